"""Every surface that a person can see, brought about by the real bot: `make surfaces` writes them to docs/surfaces.md."""

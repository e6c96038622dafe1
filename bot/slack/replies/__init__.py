"""One reply on its way into its thread: shown while it is made, delivered once."""

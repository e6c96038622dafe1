"""One file format each: bytes in, blocks of text out."""

"""The library: documents in, passages out."""

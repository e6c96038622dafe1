"""Chat and embedding models, each with its local twin."""

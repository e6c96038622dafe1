"""Pages on which admins review stored traces."""

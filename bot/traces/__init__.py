"""What each run did, stored for review."""

"""What people bring into the library from Slack."""

"""What the app hears: each parses, hands over, and acknowledges."""

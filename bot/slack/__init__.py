"""Slack: events in, blocks out."""

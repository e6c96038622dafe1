"""Text between the languages of Slack, Markdown and people; pure."""

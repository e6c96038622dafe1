"""The app in several teams: each installs it by Slack's OAuth, and takes it out again."""

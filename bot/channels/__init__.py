"""What each channel has settled about the bot: when it answers, from what, for whom; and every change of it."""

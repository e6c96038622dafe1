"""What experts answered in place of the bot: documents of the library with an author and a day to look at them again."""

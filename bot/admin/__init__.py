"""The review pages under `/admin`: what the bot did, for those who judge it."""

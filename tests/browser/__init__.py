"""The review pages in a real browser: Debian's Chromium, without a screen."""

"""Cases, scores and tables: how good and how fast it is."""

"""What is stored of people is theirs: found by person and by team in every table, erased there, and given out."""

"""A small library with questions in place, in the form of benchmarks/training."""

LIBRARY = """# Handbook
## Leave
Every keeper has 27 days of leave a year. Wishes for the summer must be in by 1 February.
? how many days off do I get
? By when do I hand in my summer wishes?
! who decides about the summer wishes
## Otters
The otters are fed at 8:00 and 15:30 with herring. Their pool is drained on the first Monday of the month.
? when do the otters eat
? which fish do otters get
? on which day is their pool emptied
! how deep is the pool of the otters
! what does herring cost a kilo
"""

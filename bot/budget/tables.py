"""The table of the budget: which day's warning was given to which team."""

from sqlalchemy import Column, Date, MetaData, Table, Text

metadata = MetaData()

budget_warnings = Table(
    "budget_warnings",
    metadata,
    Column("team", Text, primary_key=True),
    Column("day", Date, primary_key=True),
)

"""Alembic's way in: it works on the connection that it is handed, and on nothing else."""

from alembic import context

from bot.admin import tables as admin
from bot.budget import tables as budget
from bot.channels import tables as channels
from bot.experts import tables as experts
from bot.inbox import tables as inbox
from bot.slack.installing import tables as installing
from bot.traces import tables as traces
from crag_graph.knowledge import tables as library

# One entry for each file of tables; Alembic compares the database with all of them together.
TABLES = [
    library.metadata,
    traces.metadata,
    inbox.metadata,
    admin.metadata,
    channels.metadata,
    budget.metadata,
    experts.metadata,
    installing.metadata,
]

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()

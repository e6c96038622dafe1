from alembic.script import ScriptDirectory

from bot.database.migrate import alembic_config


def test_there_is_one_newest_migration_and_one_line_that_leads_to_it() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    revisions = list(scripts.walk_revisions())
    assert len(scripts.get_heads()) == 1
    assert not any(revision.is_branch_point or revision.is_merge_point for revision in revisions)

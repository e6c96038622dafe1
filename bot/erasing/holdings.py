"""The register: every table that holds something of people or of teams, how it lets go of it, and the tables that hold none.

Whoever makes a table enters it here. Tables are erased in this order, in one transaction: what is found by the rows
of another table comes before that table.
"""
# ruff: noqa: S608 - the queries are put together from constants of this file; all values are parameters

from collections.abc import Mapping

from sqlalchemy import ColumnElement
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.erasing.holding import OF_TEAM, Holding, Whose, deleted, statements
from bot.traces import erasing as traces
from bot.traces.tables import runs

EXPERT_ANSWERS = "expert answers"
_MINE = f"person = :person AND {OF_TEAM}"
# What is in no team's own space (the workspace of the only team, say) is a person's of whichever team.
_PLACE = "(CAST(:team AS text) IS NULL OR starts_with(space, :team || ':') OR position(':' IN space) = 0)"
_SUBJECT = "args->>'subject'"
_THREADS = ("DELETE FROM memory.{} WHERE thread_id = ANY(:conversations)").format


def _runs_of(whose: Whose) -> ColumnElement[bool]:
    said = (runs.c.asker == whose.person) | runs.c.heard.contains([whose.person])
    mine = said | runs.c.conversation.in_(whose.conversations)
    return mine if whose.team is None else mine & (runs.c.team == whose.team)


async def _blank_runs(connection: AsyncConnection, whose: Whose) -> int:
    return await traces.blank(connection, _runs_of(whose))


TRACES = (
    Holding(
        table="public.feedback",
        kind="votes",
        person=statements(f"DELETE FROM feedback WHERE {_MINE}"),
        team=deleted("feedback"),
        export=f"SELECT run AS trace, helpful, note, given_at FROM feedback WHERE {_MINE} ORDER BY given_at",
    ),
    Holding(
        table="public.reviews",
        kind="reviews",
        # The judgement stays, because figures count it; its words and its author go.
        person=statements(
            f"UPDATE reviews SET reviewer = :erased, answer = '', note = '' WHERE reviewer = :person AND {OF_TEAM}"
        ),
        team=deleted("reviews"),
        export="SELECT run AS trace, rating, verdict, answer, passages, note, reviewed_at FROM reviews"
        f" WHERE reviewer = :person AND {OF_TEAM} ORDER BY reviewed_at",
    ),
    Holding(
        table="public.wishes",
        kind="wishes",
        person=statements(f"DELETE FROM wishes WHERE {_MINE}"),
        team=deleted("wishes"),
        export=f"SELECT run AS trace, wished_at, told_at FROM wishes WHERE {_MINE} ORDER BY wished_at",
    ),
    Holding(table="public.gap_runs"),
    Holding(
        table="public.demotions",
        # With its question the word itself goes. Where somebody else asked, the word stays and loses its author.
        person=statements(f"UPDATE demotions SET made_by = :erased || '-' || id WHERE made_by = :person AND {_PLACE}"),
        team=statements("DELETE FROM demotions WHERE starts_with(space, :team || ':')"),
    ),
    Holding(
        table="public.gaps",
        person=statements(f"UPDATE gaps SET changed_by = :erased WHERE changed_by = :person AND {OF_TEAM}"),
        team=deleted("gaps"),
    ),
    Holding(table="public.steps"),
    # With a run, what belongs to it is erased: its steps, the votes and reviews on it, its place in a gap.
    Holding(
        table="public.runs",
        kind="questions",
        person=_blank_runs,
        team=deleted("runs"),
        export="SELECT id AS trace, team, channel, permalink, question, standalone, web_query, verdict, answer,"
        f" citations, started_at FROM runs WHERE asker = :person AND {OF_TEAM} AND rerun_of = '' ORDER BY started_at",
    ),
)

SLACK = (
    Holding(
        table="public.inbox",
        kind="messages",
        # The ids of the messages stay, so that nothing is answered twice.
        person=statements(
            "UPDATE inbox SET person = '', payload = NULL, outcome = NULL, done_at = coalesce(done_at, now()),"
            f" conversation = regexp_replace(conversation, :who, :erased, 'g') WHERE {_MINE}"
        ),
        team=deleted("inbox"),
    ),
    Holding(
        table="public.channel_settings",
        kind="settings",
        person=statements(
            "UPDATE channel_settings SET changed_by = CASE changed_by WHEN :person THEN :erased ELSE changed_by END,"
            " ingesters = array_remove(ingesters, CAST(:person AS text)),"
            " callable_people = array_remove(callable_people, CAST(:person AS text))"
            f" WHERE {OF_TEAM}"
            " AND (changed_by = :person OR :person = ANY(ingesters) OR :person = ANY(callable_people))"
        ),
        team=deleted("channel_settings"),
    ),
    Holding(
        table="public.channel_changes",
        kind="changes of settings",
        # That a setting was changed, when and to what stays; who did it, or was named in it, does not.
        person=statements(
            "UPDATE channel_changes SET person = CASE person WHEN :person THEN :erased ELSE person END,"
            " before = CAST(regexp_replace(CAST(before AS text), :who, :erased, 'g') AS jsonb),"
            " after = CAST(regexp_replace(CAST(after AS text), :who, :erased, 'g') AS jsonb)"
            f" WHERE {OF_TEAM} AND (person = :person OR CAST(before AS text) ~ :who OR CAST(after AS text) ~ :who)"
        ),
        team=deleted("channel_changes"),
        export=f"SELECT team, channel, before, after, at FROM channel_changes WHERE {_MINE} ORDER BY at",
    ),
)

BUDGET = (Holding(table="public.budget_warnings", team=deleted("budget_warnings")),)

_OF_TEAM_ID = OF_TEAM.replace("team =", "team_id =")
INSTALLED = (
    Holding(
        table="public.slack_installations",
        kind="installations",
        # The team goes on using the app that this person has installed.
        person=statements(
            "UPDATE slack_installations SET user_id = :erased, user_token = NULL, user_refresh_token = NULL,"
            f" user_scopes = NULL WHERE user_id = :person AND {_OF_TEAM_ID}"
        ),
        team=statements("DELETE FROM slack_installations WHERE team_id = :team"),
        export="SELECT team_id AS team, team_name, installed_at FROM slack_installations"
        f" WHERE user_id = :person AND {_OF_TEAM_ID} ORDER BY installed_at",
    ),
    Holding(table="public.slack_bots", team=statements("DELETE FROM slack_bots WHERE team_id = :team")),
)

ADMIN = (
    Holding(
        table="public.audit",
        kind="audit entries",
        # What was done with other people's data must stay on record; that this person did it need not.
        person=statements(
            "UPDATE audit SET person = CASE person WHEN :person THEN :erased ELSE person END,"
            " subject = regexp_replace(subject, :who, :erased, 'g'),"
            " detail = CAST(regexp_replace(CAST(detail AS text), :who, :erased, 'g') AS jsonb)"
            f" WHERE {OF_TEAM} AND (person = :person OR subject ~ :who OR CAST(detail AS text) ~ :who)"
        ),
        team=deleted("audit"),
        export=f"SELECT team, action, subject, detail, at FROM audit WHERE {_MINE} ORDER BY at",
    ),
    Holding(
        table="public.admin_links",
        kind="sign-ins",
        person=statements(f"DELETE FROM admin_links WHERE {_MINE}"),
        team=deleted("admin_links"),
    ),
    Holding(
        table="public.admin_sessions",
        kind="sign-ins",
        person=statements(f"DELETE FROM admin_sessions WHERE {_MINE}"),
        team=deleted("admin_sessions"),
    ),
)

LIBRARY = (
    Holding(
        table="public.documents",
        kind="documents",
        # What others can find is knowledge and stays, without a name. Nobody else ever saw what a person added in
        # direct messages with the bot; what came with a question goes with its conversation.
        person=statements(
            "DELETE FROM documents WHERE NOT kept AND space = ANY(:conversations)",
            f"DELETE FROM documents WHERE NOT kept AND added_by = :person AND {_PLACE}",
            rf"DELETE FROM documents WHERE added_by = :person AND {_PLACE} AND space ~ '\:D[A-Z0-9]+$'",
            f"UPDATE documents SET added_by = :erased WHERE added_by = :person AND {_PLACE}",
        ),
        team=statements("DELETE FROM documents WHERE starts_with(space, :team || ':')"),
        export="SELECT id, space, source, title, link, added_at FROM documents"
        f" WHERE added_by = :person AND {_PLACE} ORDER BY added_at",
    ),
    Holding(table="public.passages"),
    # The author also stands in the title that a document is found by: what was found here has lost it before.
    Holding(
        table="public.expert_answers",
        kind=EXPERT_ANSWERS,
        person=statements(
            f"UPDATE expert_answers SET author = '', author_name = '', link = NULL WHERE author = :person AND {OF_TEAM}"
        ),
        team=deleted("expert_answers"),
        export="SELECT document, team, question, answer, link, answered_at FROM expert_answers"
        f" WHERE author = :person AND {OF_TEAM} ORDER BY answered_at",
    ),
)

MEMORY = tuple(
    Holding(table=f"memory.{name}", person=statements(_THREADS(name)), team=statements(_THREADS(name)))
    for name in ("checkpoint_writes", "checkpoint_blobs", "checkpoints")
)

JOBS = (
    Holding(table="jobs.procrastinate_events"),
    Holding(
        table="jobs.procrastinate_jobs",
        kind="jobs",
        # What is being worked on goes by itself when it ends: it has lost its message.
        person=statements(
            rf"DELETE FROM jobs.procrastinate_jobs WHERE status <> 'doing' AND {_SUBJECT} ~ :who"
            rf" AND (CAST(:team AS text) IS NULL OR {_SUBJECT} ~ :which)"
        ),
        team=statements(f"DELETE FROM jobs.procrastinate_jobs WHERE status <> 'doing' AND {_SUBJECT} ~ :which"),
    ),
)

HOLDINGS = (*TRACES, *SLACK, *INSTALLED, *BUDGET, *ADMIN, *LIBRARY, *MEMORY, *JOBS)

NOTHING_OF_PEOPLE: Mapping[str, str] = {
    "public.alembic_version": "which migrations have run",
    "public.embedding_model": "the model of the index",
    "public.admin_key": "signs links, for everybody",
    "public.admin_sign_ins": "hashes of chance that are gone after ten minutes",
    "public.slack_oauth_states": "chance that is good for ten minutes, once",
    "memory.checkpoint_migrations": "which migrations have run",
    "jobs.procrastinate_workers": "when each worker was last alive",
    "jobs.procrastinate_periodic_defers": "when nightly work was put in the queue",
}
"""Tables that hold nothing of anybody, each with what it holds."""

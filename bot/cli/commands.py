"""The commands and their options; each imports what it runs only when it is called, so that `--help` is quick."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Answers questions from your documents, checks what it found first, and cites it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
library = typer.Typer(help="The documents that answers are made from.", no_args_is_help=True)
team = typer.Typer(help="The Slack workspaces that the bot is in.", no_args_is_help=True)
traces = typer.Typer(help="What was asked, and how each answer came about.", no_args_is_help=True)
app.add_typer(library, name="library")
app.add_typer(team, name="team")
app.add_typer(traces, name="traces")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Space = Annotated[str | None, typer.Option(help="Space of the documents; without it, the one that everybody sees.")]
Spaces = Annotated[str | None, typer.Option("--space", help="A space to search besides the one that everybody sees.")]


@app.callback()
def crag(
    *,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from; anywhere on the line.")
    ] = False,
) -> None:
    """`main` looks for --debug itself."""


@app.command()
def start(
    ask: Annotated[str | None, typer.Option(envvar="ASK", help="Answer this once instead of opening a chat.")] = None,
) -> None:
    """Set everything up, then chat (or run the bot, where Slack is set up). This is what `make run` does."""
    from bot.cli.running import run
    from bot.cli.start import start as work

    run(lambda settings: work(settings, ask))


@app.command()
def chat(
    conversation: Annotated[str | None, typer.Option(help="Go on with this conversation.")] = None,
    space: Spaces = None,
) -> None:
    """Talk to the library in the terminal."""
    from bot.cli.chat import chat as work
    from bot.cli.running import run

    run(lambda settings: work(settings, conversation, space))


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="The question.", show_default=False)] = None,
    conversation: Annotated[str | None, typer.Option(help="Remember this under a name, and use what was said.")] = None,
    space: Spaces = None,
    file: Annotated[Path | None, typer.Option(help="Questions, one JSON object a line; - is standard input.")] = None,
    json: Json = False,
) -> None:
    """Ask one question, or all those of a file."""
    from bot.cli.ask import ask as work
    from bot.cli.running import run

    run(lambda settings: work(settings, question, conversation=conversation, space=space, file=file, as_json=json))


@app.command()
def ingest(
    sources: Annotated[list[str], typer.Argument(help="Files, folders and web addresses.", metavar="PATH|URL...")],
    space: Space = None,
    json: Json = False,
) -> None:
    """Take documents into the library; the same source again replaces what was there."""
    from bot.cli.ingest import ingest as work
    from bot.cli.running import run

    run(lambda settings: work(settings, sources, space=space, as_json=json))


@library.command("list")
def library_list(space: Spaces = None, json: Json = False) -> None:
    """List the documents."""
    from bot.cli.library import list_documents as work
    from bot.cli.running import run

    run(lambda settings: work(settings, space=space, as_json=json))


Document = Annotated[str, typer.Argument(help="A document's number or source, as listed.")]


@library.command("show")
def library_show(document: Document, json: Json = False) -> None:
    """Show a document and its passages."""
    from bot.cli.library import show_document as work
    from bot.cli.running import run

    run(lambda settings: work(settings, document, as_json=json))


@library.command("remove")
def library_remove(document: Document) -> None:
    """Remove a document: it is never found again."""
    from bot.cli.library import remove_document as work
    from bot.cli.running import run

    run(lambda settings: work(settings, document))


@library.command("refresh")
def library_refresh(
    document: Annotated[str | None, typer.Argument(help="A document's number or source, as listed.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All documents; also after a change of the models.")] = False,
) -> None:
    """Read a document again from where it came from."""
    from bot.cli.library import refresh as work
    from bot.cli.running import run

    run(lambda settings: work(settings, document, every=every))


@traces.command("list")
def traces_list(  # noqa: PLR0917 - each is an option, none a position
    verdict: Annotated[str | None, typer.Option(help="correct, ambiguous or incorrect.")] = None,
    state: Annotated[str | None, typer.Option(help="answered, failed, stopped, running or unfinished.")] = None,
    feedback: Annotated[str | None, typer.Option(help="helpful, unhelpful, any or none.")] = None,
    review: Annotated[
        str | None, typer.Option(help="good, wrong, incomplete, bad (either of the two), any or none.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The chat model that wrote.")] = None,
    channel: str | None = None,
    person: str | None = None,
    conversation: str | None = None,
    since: Annotated[str | None, typer.Option(help="A date, or a time as 2026-11-30T09:00.")] = None,
    until: Annotated[str | None, typer.Option(help="A date, or a time as 2026-11-30T09:00.")] = None,
    errors: Annotated[bool, typer.Option("--errors", help="Failed, or something was worked around.")] = False,
    abstained: Annotated[bool, typer.Option("--abstained", help="Without an answer.")] = False,
    slow: Annotated[float | None, typer.Option(help="Slower than so many milliseconds.")] = None,
    text: Annotated[str | None, typer.Option(help="In the question or the answer.")] = None,
    after: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    json: Json = False,
) -> None:
    """List traces, newest first."""
    from bot.cli.running import run
    from bot.cli.traces import list_them, selection

    which = selection(
        verdict=verdict,
        state=state,
        feedback=feedback,
        review=review,
        model=model,
        channel=channel,
        asker=person,
        conversation=conversation,
        since=since,
        until=until,
        troubled=errors,
        abstained=abstained,
        slower_than=slow,
        text=text,
    )
    run(lambda settings: list_them(settings, which, after=after, limit=limit, as_json=json))


@traces.command("show")
def traces_show(trace: Annotated[str, typer.Argument(help="The trace's id.")], json: Json = False) -> None:
    """Show one trace: every step of an answer."""
    from bot.cli.running import run
    from bot.cli.traces import show as work

    run(lambda settings: work(settings, trace, as_json=json))


@traces.command("review")
def traces_review(  # noqa: PLR0917 - each but the first is an option
    trace: Annotated[str, typer.Argument(help="The trace's id.")],
    rating: Annotated[str | None, typer.Option(help="The answer is good, wrong or incomplete.")] = None,
    verdict: Annotated[str | None, typer.Option(help="As it should have been: correct, ambiguous, incorrect.")] = None,
    answer: Annotated[str, typer.Option(help="The answer as it should have been.")] = "",
    note: str = "",
    relevant: Annotated[list[str] | None, typer.Option(help="Id of a passage that is relevant; repeatable.")] = None,
    not_relevant: Annotated[list[str] | None, typer.Option(help="Id of a passage that is not; repeatable.")] = None,
    json: Json = False,
) -> None:
    """Judge an answer, its verdict and its passages; earlier reviews are kept."""
    from bot.cli.review import judgement
    from bot.cli.review import review as work
    from bot.cli.running import run

    given = judgement(
        rating=rating,
        verdict=verdict,
        answer=answer,
        note=note,
        relevant=relevant or (),
        not_relevant=not_relevant or (),
    )
    run(lambda settings: work(settings, trace, given, as_json=json))


@traces.command("export")
def traces_export(  # noqa: PLR0917 - each is an option, none a position
    output: Annotated[Path | None, typer.Option(help="A file to write; without it, standard output.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Keep the names and ids of people, channels and teams.")] = False,
    verdict: Annotated[str | None, typer.Option(help="As it was said: correct, ambiguous or incorrect.")] = None,
    review: Annotated[str | None, typer.Option(help="good, wrong, incomplete, bad (either of the two) or any.")] = None,
    channel: str | None = None,
    person: str | None = None,
    since: Annotated[str | None, typer.Option(help="A date, or a time as 2026-11-30T09:00.")] = None,
    until: Annotated[str | None, typer.Option(help="A date, or a time as 2026-11-30T09:00.")] = None,
    text: Annotated[str | None, typer.Option(help="In the question or the answer.")] = None,
) -> None:
    """Write reviewed traces as cases for `crag calibrate` and `crag benchmark`."""
    from bot.cli.cases import export as work
    from bot.cli.running import run
    from bot.cli.traces import selection

    which = selection(
        verdict=verdict, review=review, channel=channel, asker=person, since=since, until=until, text=text
    )
    run(lambda settings: work(settings, which, output=output, raw=raw))


OfTeam = Annotated[str | None, typer.Option("--team", help="In this team alone; without it, in all.", metavar="T…")]


@app.command()
def forget(
    conversation: Annotated[str | None, typer.Argument(help="The conversation's name, or its id in Slack.")] = None,
    user: Annotated[str | None, typer.Option(help="Instead: everything of the person with this Slack id.")] = None,
    team: OfTeam = None,
    json: Json = False,
) -> None:
    """Erase a conversation, or everything that is stored of a person."""
    from bot.cli.forget import forget as work
    from bot.cli.running import run

    run(lambda settings: work(settings, conversation, user=user, team=team, as_json=json))


@app.command()
def export(
    user: Annotated[str, typer.Option(help="Slack id of the person.")],
    team: OfTeam = None,
    output: Annotated[Path | None, typer.Option(help="A file to write; without it, standard output.")] = None,
) -> None:
    """Give out what is stored of one person, as JSON: asked, voted, reviewed, added, changed."""
    from bot.cli.export import export as work
    from bot.cli.running import run

    run(lambda settings: work(settings, user, team=team, output=output))


@team.command("erase")
def team_erase(
    which: Annotated[str, typer.Argument(help="Slack id of the team.", metavar="T…")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    json: Json = False,
) -> None:
    """Erase everything of a team: its documents, questions, memory, settings and installation."""
    from bot.cli.forget import erase_team as work
    from bot.cli.running import run

    run(lambda settings: work(settings, which, yes=yes, as_json=json))


@app.command()
def doctor(json: Json = False) -> None:
    """Check everything this installation needs, and say what to do."""
    from bot.cli.doctor import doctor as work
    from bot.cli.running import run

    run(lambda settings: work(settings, as_json=json))


@app.command()
def migrate() -> None:
    """Bring the database up to date."""
    from bot.cli.running import run
    from bot.cli.service import migrate as work

    run(work)


@app.command()
def serve(
    worker: Annotated[bool, typer.Option(help="Also answer questions in this process.")] = True,
) -> None:
    """Run the bot: Slack, the web server and a worker."""
    from bot.cli.running import run
    from bot.cli.service import serve as work

    run(lambda settings: work(settings, worker=worker), service=True)


@app.command()
def work() -> None:
    """Answer what `crag serve` has put in the queue."""
    from bot.cli.running import run
    from bot.cli.service import work

    run(work, service=True)


@app.command()
def settings(
    markdown: Annotated[bool, typer.Option("--markdown", help="As the table of the README.")] = False,
    env: Annotated[bool, typer.Option("--env", help="As .env.example.")] = False,
) -> None:
    """List the settings, and what they are now."""
    from bot.cli.settings import show

    show(markdown=markdown, env=env)


@app.command()
def graph() -> None:
    """Print the graph as a Mermaid diagram."""
    from crag_graph.graph import mermaid

    print(mermaid())


Cost = Annotated[float, typer.Option(min=0.0, help="What such a mistake costs, against the others.")]


@app.command()
def calibrate(  # noqa: PLR0917 - each but the first is an option
    cases: Annotated[
        Path | None, typer.Argument(help="Reviewed questions, as `crag traces export` writes them.")
    ] = None,
    false_correct: Cost = 1.0,
    false_incorrect: Cost = 1.0,
    needless_web: Cost = 0.3,
    apply: Annotated[bool, typer.Option("--apply", help="Use it from the next start on.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Instead: take the newest fit back.")] = False,
    picture: Annotated[Path | None, typer.Option(help="A PNG to draw the reliability curve in.")] = None,
) -> None:
    """Fit the evaluator and the thresholds to reviewed questions of yours."""
    from bot.cli import calibrate as work
    from bot.cli.errors import UseError
    from bot.cli.running import run
    from crag_graph.benchmarks.quality import Costs

    costs = Costs(false_correct=false_correct, false_incorrect=false_incorrect, needless_web=needless_web)
    if undo:
        run(work.undo)
    if cases is None:
        raise UseError("Name a file of reviewed questions; `crag traces export` writes one.")
    run(lambda settings: work.fit(settings, cases, costs=costs, apply=apply, picture=picture))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def benchmark(context: typer.Context) -> None:
    """Measure what there is to measure; without a name, the names."""
    from bot.cli.measure import benchmark as work

    work(context.args)


@team.command("list")
def list_teams(*, json: Json = False) -> None:
    """Where the app is installed, and whether it works there."""
    from bot.cli.running import run
    from bot.cli.teams import list_them as work

    run(lambda settings: work(settings, as_json=json))

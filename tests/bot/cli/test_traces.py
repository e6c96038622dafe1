import json
from pathlib import Path

import pytest

from bot.cli.ask import ask
from bot.cli.cases import export
from bot.cli.errors import UseError
from bot.cli.ingest import ingest
from bot.cli.review import judgement, review
from bot.cli.traces import list_them, selection, show
from bot.settings import Settings
from crag_graph.benchmarks.calibrate import read_cases

QUESTION = "How many days of parental leave does a parent get?"


@pytest.fixture
async def trace(settings: Settings, handbook: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Id of the trace of one answered question."""
    await ingest(settings, [str(handbook)], space=None, as_json=False)
    capsys.readouterr()
    await ask(settings, QUESTION, conversation=None, space=None, file=None, as_json=True)
    identity: str = json.loads(capsys.readouterr().out)["trace_id"]
    return identity


async def test_traces_are_listed_and_filtered(
    settings: Settings, trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for which, expected in (
        (selection(since=None, until=None), [trace]),
        (selection(since="2020-01-01", until=None, text="PARENTAL"), [trace]),
        (selection(since=None, until="2020-01-01"), []),
        (selection(since=None, until=None, verdict="incorrect"), []),
    ):
        await list_them(settings, which, after=None, limit=10, as_json=True)
        found = json.loads(capsys.readouterr().out)
        assert [run["id"] for run in found["traces"]] == expected
    await list_them(settings, selection(since=None, until=None), after=None, limit=10, as_json=False)
    assert trace in capsys.readouterr().out


async def test_a_trace_shows_every_step(settings: Settings, trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    await show(settings, trace, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert [step["node"] for step in told["steps"]] == ["contextualize", "retrieve", "evaluate", "refine", "generate"]
    await show(settings, trace, as_json=False)
    shown = capsys.readouterr().out
    for part in (QUESTION, "retrieve", "Leave", "kept", "80 days"):
        assert part in shown


async def test_what_is_not_there_or_no_date_is_said(settings: Settings) -> None:
    with pytest.raises(UseError, match="crag traces list"):
        await show(settings, "nothing", as_json=True)
    with pytest.raises(UseError, match="--since yesterday"):
        selection(since="yesterday", until=None)


async def test_an_answer_is_reviewed_and_every_review_is_kept(
    settings: Settings, trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await show(settings, trace, as_json=True)
    passage = json.loads(capsys.readouterr().out)["steps"][1]["detail"]["passages"][0]["id"]
    given = judgement(rating="wrong", verdict="ambiguous", note="old", relevant=(), not_relevant=[passage])
    assert await review(settings, trace, given, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["passages"] == {passage: False}
    await review(settings, trace, judgement(rating="good", relevant=(), not_relevant=()), as_json=False)
    capsys.readouterr()
    await show(settings, trace, as_json=False)
    shown = capsys.readouterr().out
    assert "terminal reviewed: wrong · verdict ambiguous · old" in shown
    await list_them(settings, selection(since=None, until=None, review="good"), after=None, limit=10, as_json=True)
    assert [run["id"] for run in json.loads(capsys.readouterr().out)["traces"]] == [trace]


async def test_a_review_that_cannot_be_is_refused(settings: Settings, trace: str) -> None:
    with pytest.raises(UseError, match="says nothing"):
        judgement(rating=None, relevant=(), not_relevant=())
    with pytest.raises(UseError, match="no rating"):
        judgement(rating="superb", relevant=(), not_relevant=())
    with pytest.raises(UseError, match="both relevant and not"):
        judgement(rating="good", relevant=["1"], not_relevant=["1"])
    with pytest.raises(UseError, match="crag traces list"):
        await review(settings, "nothing", judgement(rating="good", relevant=(), not_relevant=()), as_json=True)
    with pytest.raises(UseError, match="no passage nowhere"):
        await review(settings, trace, judgement(rating=None, relevant=["nowhere"], not_relevant=()), as_json=True)


async def test_reviewed_traces_are_exported_as_cases_for_their_owner_alone(
    settings: Settings, trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await review(settings, trace, judgement(rating="good", relevant=(), not_relevant=()), as_json=False)
    capsys.readouterr()
    file = tmp_path / "cases.jsonl"
    assert await export(settings, selection(since=None, until=None), output=file, raw=False) == 0
    assert "cases.jsonl: 1." in capsys.readouterr().err
    assert file.stat().st_mode & 0o077 == 0
    (case,) = read_cases(file)
    assert (case.question, case.verdict) == (QUESTION, "correct")
    assert case.passages
    await export(settings, selection(since=None, until=None), output=None, raw=True)
    assert json.loads(capsys.readouterr().out)["id"] == trace

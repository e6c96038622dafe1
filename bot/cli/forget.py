"""`crag forget`: erases a conversation, or everything of a person. `crag team erase`: everything of a team."""

from collections.abc import Callable

import typer

from bot.cli.asking import conversation_id
from bot.cli.errors import UseError
from bot.cli.printing import line
from bot.erasing.eraser import Erased
from bot.forgetting import forget as forget_conversation
from bot.settings import Settings
from bot.wiring import make_recorder, open_database, open_memory, open_product
from crag_graph.knowledge.attached import Attached

Confirm = Callable[[str], bool]

SURE = "Everything of team {team} goes, its documents too, and nothing brings it back. Go on?"
KEPT = "Nothing was erased."
SHARED = "Documents in the space “workspace” are this installation's and stay; `crag library remove` takes them out."


async def forget(
    settings: Settings,
    conversation: str | None,
    *,
    user: str | None = None,
    team: str | None = None,
    as_json: bool = False,
) -> int:
    if (conversation is None) == (user is None):
        raise UseError("Give the name of a conversation, or --user U… for everything of a person.")
    if user is not None:
        return await _forget_person(settings, user, team, as_json=as_json)
    async with open_database(settings) as database, open_memory(settings, database) as memory:
        done = await forget_conversation(
            memory,
            make_recorder(settings, database),
            conversation_id(conversation or ""),
            attached=Attached(engine=database.engine),
        )
    if not (done.remembered or done.traces or done.files):
        raise UseError(f"There is no conversation {conversation!r}.")
    if as_json:
        told = {"remembered": done.remembered, "questions": done.traces, "files": done.files}
        print(line({"conversation": conversation, **told}))
    else:
        print(f"Forgotten; the texts of {done.traces} traces are erased.")
    return 0


async def _forget_person(settings: Settings, user: str, team: str | None, *, as_json: bool) -> int:
    async with open_product(settings) as product:
        erased = await product.eraser.erase_person(user, team=team)
    _report({"user": user, "team": team}, erased, whose=user, as_json=as_json)
    return 0


async def erase_team(
    settings: Settings, team: str, *, yes: bool, as_json: bool, confirm: Confirm = typer.confirm
) -> int:
    """`confirm` asks whoever is at the terminal; `yes`: nobody is asked."""
    if not yes and not confirm(SURE.format(team=team)):
        print(KEPT)
        return 1
    async with open_product(settings) as product:
        erased = await product.eraser.erase_team(team)
    _report({"team": team}, erased, whose=f"team {team}", as_json=as_json)
    if settings.slack_install != "oauth" and not as_json:
        print(SHARED)
    return 0


def _report(asked: dict[str, str | None], erased: Erased, *, whose: str, as_json: bool) -> None:
    if as_json:
        print(line({**asked, "erased": dict(erased.counts)}))
    elif not erased.counts:
        print(f"There is nothing stored of {whose}.")
    else:
        print(f"Erased, of {whose}:")
        for kind, number in erased.counts.items():
            print(f"  {number:>7,}  {kind}")

"""`crag forget`: erases a conversation, or what a person asked and said."""

from bot.cli.asking import conversation_id
from bot.cli.errors import UseError
from bot.forgetting import forget as forget_conversation
from bot.settings import Settings
from bot.traces.erasing import erase_person
from bot.wiring import make_recorder, open_database, open_memory


async def forget(settings: Settings, conversation: str | None, person: str | None) -> int:
    if (conversation is None) == (person is None):
        raise UseError("Give the name of a conversation, or --person TEAM/USER.")
    async with open_database(settings) as database, open_memory(settings, database) as memory:
        if person is not None:
            team, _, user = person.partition("/")
            erased = await erase_person(database.engine, team=team, person=user)
            print(f"Erased the texts of {erased} traces.")
            return 0
        done = await forget_conversation(memory, make_recorder(settings, database), conversation_id(conversation or ""))
    if not (done.remembered or done.traces):
        raise UseError(f"There is no conversation {conversation!r}.")
    print(f"Forgotten; the texts of {done.traces} traces are erased.")
    return 0

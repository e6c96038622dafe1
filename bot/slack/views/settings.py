"""The modal in which the settings of a channel are seen and changed, and what was entered into it; pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.channels.settings import Changers, ChannelSettings, Ingesters, Manner, WebUse
from bot.slack import words
from bot.slack.text.mrkdwn import escape
from bot.slack.views.blocks import Block, plain_text, shorten
from crag_graph.phrases import Phrase

SETTINGS_SAVED = "channel_settings"
"""The modal's callback id."""
CHANNEL_CHOSEN = "channel_of_settings"
"""The callback id of the modal before it, where it is not opened in a channel."""
CHANNEL = "channel"
TITLE = Phrase("Settings here")
CHOICE = Phrase("Settings of a channel")
CHANNEL_LABEL = Phrase("The channel")
CHANNEL_HINT = Phrase("I have to be a member of it, and so do you.")
MOST_PEOPLE = 20
"""Of one list."""
MOST_GROUPS = 100
"""Options of a menu; Slack takes no more."""
MOST_TURNS = 50

MANNERS = {
    Manner.MENTION: Phrase("Only to messages that mention me"),
    Manner.THREAD: Phrase("To mentions, and to replies in threads where I have answered"),
    Manner.ALL: Phrase("To every message that is not meant for somebody else"),
    Manner.OFF: Phrase("Not at all: I am switched off here"),
}
WEB = {
    WebUse.ON: Phrase("Wherever the documents are not enough"),
    WebUse.ASK: Phrase("Only when the asker says so, with a button under the answer"),
    WebUse.OFF: Phrase("Never"),
}
INGEST = {
    Ingesters.EVERYBODY: Phrase("Everybody in the channel"),
    Ingesters.NAMED: Phrase("The people named below, and admins"),
    Ingesters.ADMINS: Phrase("Admins alone"),
}
CHANGERS = {Changers.MEMBERS: Phrase("Any member of the channel"), Changers.ADMINS: Phrase("Admins alone")}
SWITCHES = {
    "private_first": Phrase("Answer privately first, so that the asker alone sees the answer"),
    "workspace": Phrase("Answer also from the documents for everybody in the workspace"),
    "bots": Phrase("Other bots may ask me, too"),
}
LABELS = {
    "manner": Phrase("When I answer"),
    "web": Phrase("When I search the web"),
    "switches": Phrase("What else holds here"),
    "bot_turns": Phrase("Questions of other bots in one conversation, at most"),
    "ingest": Phrase("Who may add documents"),
    "ingesters": Phrase("People who may add documents"),
    "callable_people": Phrase("People to call when I have no answer"),
    "callable_groups": Phrase("User groups to call when I have no answer"),
    "changers": Phrase("Who may change these settings"),
}
ABOUT = Phrase("What is settled here holds for {place} alone, from the next question on.")
LAST_CHANGE = Phrase("Last changed by <@{person}>.")
OVERTAKEN = Phrase(
    "<@{person}> has changed these settings while you had them open, and nothing of yours is saved yet. "
    "Below stands what holds now, with your own changes. Look at it, and save again."
)
SUBMIT = Phrase("Save")
SHOW = Phrase("Show")
YES, NO = Phrase("yes"), Phrase("no")
SAVED = Phrase("Saved. This holds from the next question on.")
UNCHANGED = Phrase("Nothing was changed: this holds already.")
NAME_SOMEBODY = Phrase("Name at least one person, or choose who else may add documents above.")
TOO_MANY = Phrase("Name at most {most}.")
BOTS_READ_NOTHING = Phrase("Other bots cannot read private answers. Choose one of the two.")
TURNS_BETWEEN = Phrase("Enter a whole number from 1 to {most}.")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What the modal is about. `version` is that of the settings that it was filled from."""

    channel: str
    version: int

    def packed(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def unpacked(cls, metadata: str) -> "Sheet":
        return cls(**json.loads(metadata))


@dataclass(frozen=True, kw_only=True)
class Group:
    """A user group of the workspace."""

    id: str
    handle: str


def settings_view(
    settings: ChannelSettings, channel: str, *, groups: Sequence[Group] = (), admin: bool = False, notice: str = ""
) -> dict[str, Any]:
    """`groups`: those to choose from; who may change the settings only an admin is asked. `notice`: what comes first."""
    return {
        "type": "modal",
        "callback_id": SETTINGS_SAVED,
        "private_metadata": Sheet(channel=channel, version=settings.version).packed(),
        "title": plain_text(TITLE()),
        "submit": plain_text(SUBMIT()),
        "close": plain_text(words.CANCEL()),
        "blocks": [*_about(settings, channel, notice), *_inputs(settings, groups, admin=admin)],
    }


def choice_view() -> dict[str, Any]:
    """Asks for the channel; of those that it offers not all may be changed."""
    places = {"include": ["public", "private", "mpim"], "exclude_bot_users": True}
    return {
        "type": "modal",
        "callback_id": CHANNEL_CHOSEN,
        "title": plain_text(CHOICE()),
        "submit": plain_text(SHOW()),
        "close": plain_text(words.CANCEL()),
        "blocks": [
            {
                "type": "input",
                "block_id": CHANNEL,
                "label": plain_text(CHANNEL_LABEL()),
                "hint": plain_text(CHANNEL_HINT()),
                "element": {"type": "conversations_select", "action_id": CHANNEL, "filter": places},
            }
        ],
    }


def chosen_channel(view: Mapping[str, Any]) -> str:
    return str(view["state"]["values"][CHANNEL][CHANNEL]["selected_conversation"])


def notice_view(text: str, lines: Iterable[str] = ()) -> dict[str, Any]:
    """A few words of ours in place of the modal, in Slack's markup."""
    said = "\n".join([text, *(f"• {line}" for line in lines)])
    return {
        "type": "modal",
        "title": plain_text(TITLE()),
        "close": plain_text(words.CLOSE()),
        "blocks": [_section(said)],
    }


def entered(view: Mapping[str, Any], before: ChannelSettings) -> ChannelSettings:
    """The settings that a submitted modal asks for; what it did not show stays as it was `before`."""
    read = _Entered(view["state"]["values"])
    switched = read.many("switches", list(SWITCHES) if read.has("switches") else [])
    return replace(
        before,
        version=Sheet.unpacked(view["private_metadata"]).version,
        manner=read.choice("manner", before.manner),
        web=read.choice("web", before.web),
        private_first="private_first" in switched,
        workspace="workspace" in switched,
        bots="bots" in switched,
        bot_turns=_number(read.text("bot_turns")),
        ingest=read.choice("ingest", before.ingest),
        ingesters=read.many("ingesters", before.ingesters),
        callable_people=read.many("callable_people", before.callable_people),
        callable_groups=read.many("callable_groups", before.callable_groups),
        changers=read.choice("changers", before.changers),
    )


def problems(settings: ChannelSettings) -> dict[str, str]:
    """What cannot be saved so, by the block that it stands in."""
    found = {}
    if settings.ingest is Ingesters.NAMED and not settings.ingesters:
        found["ingesters"] = NAME_SOMEBODY()
    for name in ("ingesters", "callable_people"):
        if len(getattr(settings, name)) > MOST_PEOPLE:
            found[name] = TOO_MANY(most=MOST_PEOPLE)
    if settings.private_first and settings.bots:
        found["switches"] = BOTS_READ_NOTHING()
    if not 1 <= settings.bot_turns <= MOST_TURNS:
        found["bot_turns"] = TURNS_BETWEEN(most=MOST_TURNS)
    return found


def merged(mine: ChannelSettings, base: Mapping[str, Any], now: ChannelSettings) -> ChannelSettings:
    """What was changed in `mine` since it was read as `base`, put into what holds `now`."""
    chosen = mine.choices()
    changes = {name: getattr(mine, name) for name, value in chosen.items() if value != base.get(name)}
    return replace(now, **changes)


def told(settings: ChannelSettings) -> list[str]:
    """The settings in sentences, in Slack's markup."""
    lines = [
        f"{LABELS['manner']()}: {MANNERS[settings.manner]()}",
        f"{LABELS['web']()}: {WEB[settings.web]()}",
        *(f"{text()}: {(YES if getattr(settings, name) else NO)()}" for name, text in SWITCHES.items()),
        f"{LABELS['ingest']()}: {INGEST[settings.ingest]()}",
    ]
    if settings.bots:
        lines.append(f"{LABELS['bot_turns']()}: {settings.bot_turns}")
    if settings.ingest is Ingesters.NAMED:
        lines.append(f"{LABELS['ingesters']()}: {_people(settings.ingesters)}")
    if settings.callable_people:
        lines.append(f"{LABELS['callable_people']()}: {_people(settings.callable_people)}")
    if settings.callable_groups:
        lines.append(f"{LABELS['callable_groups']()}: {_groups_told(settings.callable_groups)}")
    return [*lines, f"{LABELS['changers']()}: {CHANGERS[settings.changers]()}"]


class _Entered:
    """The values of a submitted view; each block holds one input, and both are called alike."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        return name in self._values

    def text(self, name: str) -> str:
        return str(self._one(name).get("value") or "")

    def choice(self, name: str, before: Any) -> Any:
        chosen = (self._one(name).get("selected_option") or {}).get("value")
        return before if chosen is None else type(before)(chosen)

    def many(self, name: str, before: Sequence[str]) -> tuple[str, ...]:
        if not self.has(name):
            return tuple(before)
        one = self._one(name)
        people = one.get("selected_users")
        options = [option["value"] for option in one.get("selected_options") or ()]
        return tuple(options if people is None else people)

    def _one(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._values.get(name, {}).get(name, {})
        return found


def _number(text: str) -> int:
    """0, which is never right, where it is no whole number."""
    return int(text) if text.isdecimal() and len(text) <= len(str(MOST_TURNS)) else 0


def _about(settings: ChannelSettings, channel: str, notice: str) -> Iterator[Block]:
    if notice:
        yield _section(notice)
    last = f" {LAST_CHANGE(person=settings.changed_by)}" if settings.changed_by else ""
    yield _section(f"{ABOUT(place=f'<#{channel}>')}{last}")


def _inputs(settings: ChannelSettings, groups: Sequence[Group], *, admin: bool) -> Iterator[Block]:
    yield _radio("manner", MANNERS, settings.manner)
    yield _radio("web", WEB, settings.web)
    yield _checkboxes(settings)
    yield _input(
        "bot_turns",
        {
            "type": "number_input",
            "is_decimal_allowed": False,
            "min_value": "1",
            "max_value": str(MOST_TURNS),
            "initial_value": str(settings.bot_turns),
        },
    )
    yield _radio("ingest", INGEST, settings.ingest)
    yield _users("ingesters", settings.ingesters)
    yield _users("callable_people", settings.callable_people)
    if groups:
        yield _groups(groups, settings.callable_groups)
    if admin:
        yield _radio("changers", CHANGERS, settings.changers)


def _input(name: str, element: Mapping[str, Any], *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "optional": optional,
        "label": plain_text(LABELS[name]()),
        "element": {"action_id": name, **element},
    }


def _radio(name: str, texts: Mapping[Any, Phrase], chosen: StrEnum) -> Block:
    options = {value: _option(value, text()) for value, text in texts.items()}
    return _input(name, {"type": "radio_buttons", "options": list(options.values()), "initial_option": options[chosen]})


def _checkboxes(settings: ChannelSettings) -> Block:
    options = {name: _option(name, text()) for name, text in SWITCHES.items()}
    on = [option for name, option in options.items() if getattr(settings, name)]
    chosen = {"initial_options": on} if on else {}
    return _input("switches", {"type": "checkboxes", "options": list(options.values()), **chosen}, optional=True)


def _users(name: str, people: Sequence[str]) -> Block:
    chosen = {"initial_users": list(people)} if people else {}
    element = {"type": "multi_users_select", "max_selected_items": MOST_PEOPLE, **chosen}
    return _input(name, element, optional=True)


def _groups(groups: Sequence[Group], chosen: Sequence[str]) -> Block:
    """A group that is chosen and no longer there stays visible by its id, until somebody takes it out."""
    known = {group.id: f"@{group.handle}" for group in groups}
    offered = {one: known.get(one, one) for one in [*chosen, *known]}
    options = {one: _option(one, shorten(text, 75)) for one, text in list(offered.items())[:MOST_GROUPS]}
    on = [options[one] for one in chosen if one in options]
    element = {
        "type": "multi_static_select",
        "options": list(options.values()),
        **({"initial_options": on} if on else {}),
    }
    return _input("callable_groups", element, optional=True)


def _option(value: str, text: str) -> dict[str, Any]:
    return {"text": plain_text(text), "value": str(value)}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _people(ids: Iterable[str]) -> str:
    return ", ".join(f"<@{escape(one)}>" for one in ids)


def _groups_told(ids: Iterable[str]) -> str:
    return ", ".join(f"<!subteam^{escape(one)}>" for one in ids)

"""Which events are questions, and to which conversation they belong."""

from dataclasses import dataclass
from typing import Any

import pytest

from bot.channels.settings import ChannelSettings, Manner
from bot.inbox import Place
from bot.slack.incoming import Kind, Manners, Me, Message, asks, privately, read

ME = Me(team="T1", user="U0BOT", bot="B0BOT", app="A0BOT")


def event(**fields: Any) -> dict[str, Any]:
    """A message of Ann's in #travel as Slack delivers it."""
    plain = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U0ANN", "ts": "10.1", "team": "T1"}
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
        "event": {**plain, "text": "<@U0BOT> how long is leave?", **fields},
    }


@dataclass(frozen=True, kw_only=True)
class Threads:
    """Of every conversation the same."""

    joins: bool = False
    hands_on: bool = False

    async def joined(self, _conversation: str, _person: str) -> bool:
        return self.joins

    async def handed_on(self, _place: Place, _conversation: str) -> bool:
        return self.hands_on


never, always, called = Threads(), Threads(joins=True), Threads(joins=True, hands_on=True)


async def is_asked(
    body: dict[str, Any], *, joined: Threads = never, manners: Manners | None = None, me: Me = ME
) -> bool:
    message, usual = read(body, me), manners or Manners()
    if message is None:
        return False
    settings = usual.adapt(usual.settings(message.channel), message.channel, message.kind)
    return await asks(message, settings, joined)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": "app_mention", "channel_type": None},
        {"channel_type": "group"},
        {"channel_type": "im", "channel": "D1", "text": "how long is leave?"},
        {"channel_type": "im", "channel": "D1", "text": "ask <@U0BOB> how long?"},
        {"channel_type": "mpim", "text": "how long is leave?"},
        {"subtype": "file_share", "files": [{"id": "F1"}]},
        {"subtype": "thread_broadcast", "thread_ts": "9.1"},
        {"thread_ts": "9.1"},
        {"text": "<@U0BOT|crag> and <@U0BOB>, how long is leave?"},
    ],
)
async def test_a_question_is_one(fields: dict[str, Any]) -> None:
    assert await is_asked(event(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "U0BOT"},
        {"bot_id": "B0BOT", "user": "U0OTHER"},
        {"app_id": "A0BOT", "user": "U0OTHER"},
        {"bot_id": "B0X", "bot_profile": {"app_id": "A0BOT"}},
        {"bot_id": "B0OTHER", "subtype": "bot_message", "user": None},
        {"bot_id": "B0OTHER"},
        {"user": "USLACKBOT"},
        {"subtype": "message_changed", "message": {"text": "<@U0BOT> hi"}, "hidden": True},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"hidden": True},
        {"type": "app_mention", "edited": {"user": "U0ANN", "ts": "11.0"}},
        {"text": "how long is leave?"},
        {"text": "<@U0BOB> how long is leave?"},
        {"channel_type": "mpim", "text": "<@U0BOB> how long is leave?"},
        {"ts": None},
    ],
)
async def test_what_is_not_meant_for_us_is_left_alone(fields: dict[str, Any]) -> None:
    assert not await is_asked(event(**fields))


async def test_a_thread_that_we_joined_needs_no_new_mention() -> None:
    reply = event(text="and the second one?", thread_ts="9.1")
    assert await is_asked(reply, joined=always)
    assert not await is_asked(reply, joined=never)
    assert not await is_asked(event(text="and the second one?"), joined=always)


async def test_people_who_mention_each_other_in_our_thread_are_not_interrupted() -> None:
    assert not await is_asked(event(text="<@U0BOB> what do you think?", thread_ts="9.1"), joined=always)


async def test_each_channel_has_its_own_manner() -> None:
    reply, remark = event(text="and the second?", thread_ts="9.1"), event(text="how long is leave?")
    shy = Manners(channels={"C1": Manner.MENTION})
    eager = Manners(channels={"C1": Manner.ALL})
    assert not await is_asked(reply, joined=always, manners=shy)
    assert await is_asked(event(), manners=shy)
    assert await is_asked(remark, manners=eager)
    assert not await is_asked(event(text="<@U0BOB> how long?"), manners=eager)
    assert not await is_asked(event(channel_type="mpim", text="hm?"), manners=Manners(channels={"C1": Manner.THREAD}))


async def test_other_bots_may_ask_only_where_the_channel_allows_it() -> None:
    asked = event(bot_id="B0OTHER", subtype="bot_message", user=None)
    assert await is_asked(asked, manners=Manners(bots=frozenset({"C1"})))
    assert not await is_asked(asked, manners=Manners(bots=frozenset({"C2"})))


async def test_two_bots_in_one_team_each_ignore_only_themselves() -> None:
    other = Me(team="T1", user="U0TWO", bot="B0TWO", app="A0TWO")
    ours = event(user="U0BOT", bot_id="B0BOT", text="<@U0TWO> hello")
    assert read(ours, ME) is None
    assert read(ours, other) is not None


def test_a_message_knows_its_conversation() -> None:
    root, reply = read(event(), ME), read(event(thread_ts="9.1", ts="10.2"), ME)
    assert root is not None
    assert reply is not None
    assert root.conversation == "T1:C1:10.1"
    assert reply.conversation == "T1:C1:9.1"
    assert reply.is_reply
    assert not root.is_reply


def test_in_a_shared_channel_the_conversation_is_keyed_by_our_team_and_the_author_keeps_theirs() -> None:
    body = event(team="T9", user_team="T9")
    body["team_id"] = "T9"
    message = read(body, ME)
    assert message is not None
    assert (message.team, message.home) == ("T1", "T9")


def test_a_message_is_cleaned_at_the_door() -> None:
    message = read(event(text="<@U0BOT> a\x00b \ud800c\u200b"), ME)
    assert message == Message(
        team="T1",
        channel="C1",
        ts="10.1",
        thread="10.1",
        user="U0ANN",
        text="<@U0BOT> ab \ufffdc",
        kind=Kind.CHANNEL,
        home="T1",
        event_id="Ev1",
        mentions_us=True,
    )


def test_events_without_a_message_are_none() -> None:
    assert read({}, ME) is None
    assert read({"event": {"type": "message"}}, ME) is None


async def test_where_we_are_switched_off_only_a_person_who_mentions_us_is_heard() -> None:
    off = Manners(channels={"C1": Manner.OFF}, bots=frozenset({"C1"}))
    assert await is_asked(event(), manners=off)
    assert not await is_asked(event(text="how long?", thread_ts="9.1"), joined=always, manners=off)
    assert not await is_asked(event(bot_id="B0OTHER", subtype="bot_message", user=None), manners=off)


async def test_where_every_message_is_for_us_the_words_of_people_who_were_called_are_not() -> None:
    all_questions = Manners(channels={"C1": Manner.ALL})
    reply = event(text="Dolores repairs it.", thread_ts="9.1")
    assert await is_asked(reply, joined=always, manners=all_questions)
    assert not await is_asked(reply, joined=called, manners=all_questions)
    assert await is_asked(event(text="How long?"), joined=called, manners=all_questions)
    assert await is_asked(event(thread_ts="9.1"), joined=called, manners=all_questions)  # a mention always is


def test_what_is_answered_privately_is_a_conversation_of_its_author_alone() -> None:
    private, dm = ChannelSettings(private_first=True), event(channel="D1", channel_type="im")
    for body, settings, conversation in (
        (event(), private, "T1:C1:10.1:private-U0ANN"),
        (event(), ChannelSettings(), "T1:C1:10.1"),
        (event(), ChannelSettings(manner=Manner.OFF), "T1:C1:10.1:private-U0ANN"),
        (dm, private, "T1:D1:10.1"),
        (event(bot_id="B0OTHER", user=None), private, "T1:C1:10.1"),
    ):
        message = read(body, ME)
        assert message is not None
        assert privately(message, settings).conversation == conversation


def test_a_message_has_an_address_and_what_was_asked_by_a_command_has_none() -> None:
    me = Me(team="T1", user="U0BOT", url="https://acme.slack.test/")
    said = Message(team="T1", channel="C1", ts="10.2", thread="9.1", user="U0ANN", text="How long?")
    assert said.permalink(me) == "https://acme.slack.test/archives/C1/p102?thread_ts=9.1&cid=C1"
    typed = Message(team="T1", channel="C1", ts="10.2", thread="private-U0ANN", user="U0ANN", text="How long?")
    assert typed.permalink(me) == ""
    assert said.permalink(ME) == ""

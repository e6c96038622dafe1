"""Streamed messages: where they may start, how they grow, how they end and how they die."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models.messages.chunk import TaskUpdateChunk
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import Message, Person, SlackWorkspace
from tests.slack_workspace.connect import client


@dataclass(kw_only=True)
class Scene:
    slack: SlackWorkspace
    client: AsyncWebClient
    ada: Person
    question: Message

    @property
    def where(self) -> dict[str, Any]:
        return {
            "channel": self.question.channel.id,
            "thread_ts": self.question.ts,
            "recipient_user_id": self.ada.id,
            "recipient_team_id": self.slack.team.id,
        }

    async def started(self, text: str = "One. ") -> dict[str, Any]:
        """A stream's channel and ts."""
        begun = await self.client.chat_startStream(**self.where, markdown_text=text)
        return {"channel": begun["channel"], "ts": begun["ts"]}

    @property
    def reply(self) -> Message:
        return self.slack.replies(self.question)[0]


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with SlackWorkspace() as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        question = await ada.says("@bot how many?", in_=general)
        yield Scene(slack=slack, client=client(slack), ada=ada, question=question)


async def test_a_stream_is_exactly_what_was_sent_piece_by_piece(scene: Scene) -> None:
    pieces = ["One **two", "** thr", "ee.\n\n- a\n", "- b"]
    stream = await scene.client.chat_stream(**scene.where, buffer_size=4)
    for piece in pieces:
        await stream.append(markdown_text=piece)
    growing = scene.reply.is_finished
    await stream.stop(blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": "_Sources_"}}])
    assert (growing, scene.reply.is_finished) == (False, True)
    assert scene.reply.text == "".join(pieces)
    assert scene.reply.screen == "One two three.\n• a\n• b\nSources"


async def test_tasks_and_plan_are_shown_above_the_text(scene: Scene) -> None:
    stream = await scene.client.chat_stream(**scene.where, task_display_mode="plan")
    await stream.append(chunks=[{"type": "plan_update", "title": "Looking it up"}])
    await stream.append(chunks=[TaskUpdateChunk(id="1", title="Reading the handbook", status="in_progress")])
    await stream.append(chunks=[TaskUpdateChunk(id="1", title="Reading the handbook", status="complete")])
    await stream.stop(markdown_text="26 weeks")
    assert scene.reply.screen == "▸ Looking it up\n▸ Reading the handbook (complete)\n26 weeks"


async def refused(call: Any) -> str:
    with pytest.raises(SlackApiError) as error:
        await call
    return str(error.value.response["error"])


async def test_outside_direct_messages_a_stream_needs_its_reader(scene: Scene) -> None:
    start = scene.client.chat_startStream
    where: dict[str, Any] = {"channel": scene.question.channel.id, "thread_ts": scene.question.ts}
    assert await refused(start(**where)) == "missing_recipient_user_id"
    assert await refused(start(**where, recipient_user_id=scene.ada.id)) == "missing_recipient_team_id"
    nobody: dict[str, Any] = {"recipient_user_id": "U000", "recipient_team_id": scene.slack.team.id}
    assert await refused(start(**where, **nobody)) == "user_not_found"
    question = await scene.ada.says("hello", in_=scene.ada.dm)
    await start(channel=scene.ada.dm.id, thread_ts=question.ts)


async def test_a_stream_starts_in_a_thread_and_where_the_bot_is(scene: Scene) -> None:
    assert await refused(scene.client.chat_startStream(**scene.where | {"thread_ts": "1.2"})) == "thread_not_found"
    scene.slack.admin.removes(scene.slack.bot, from_=scene.question.channel)
    assert await refused(scene.client.chat_startStream(**scene.where)) == "not_in_channel"


async def test_nothing_is_appended_after_the_stop(scene: Scene) -> None:
    stream = await scene.started()
    await scene.client.chat_stopStream(**stream, markdown_text="Two.")
    error = "message_not_in_streaming_state"
    assert await refused(scene.client.chat_appendStream(**stream, markdown_text="Three.")) == error
    assert await refused(scene.client.chat_stopStream(**stream)) == error
    assert scene.reply.text == "One. Two."


async def test_a_stream_dies_after_its_time_and_can_be_finished_by_an_update(scene: Scene) -> None:
    stream = await scene.started()
    assert await refused(scene.client.chat_update(**stream, text="One. Two.")) == "streaming_state_conflict"
    scene.slack.clock.advance(301)
    error = "message_not_in_streaming_state"
    assert await refused(scene.client.chat_appendStream(**stream, markdown_text="Two.")) == error
    await scene.client.chat_update(**stream, text="One. Two.")
    assert scene.reply.screen == "One. Two."


async def test_a_stream_can_be_made_to_die_at_its_third_append(scene: Scene) -> None:
    scene.slack.network.kills_streams(after=2)
    stream = await scene.started("0")
    for number in (1, 2):
        await scene.client.chat_appendStream(**stream, markdown_text=str(number))
    assert (
        await refused(scene.client.chat_appendStream(**stream, markdown_text="3")) == "message_not_in_streaming_state"
    )
    assert scene.reply.text == "012"
    await scene.client.chat_update(**stream, text="0123")
    assert scene.reply.text == "0123"


async def test_the_stop_button_ends_the_stream_and_tells_the_app(scene: Scene) -> None:
    stream = await scene.started()
    await scene.client.api_call(
        "agents.sessions.setStatus",
        json={"channel_id": stream["channel"], "thread_ts": scene.question.ts, "status": "processing"},
    )
    await scene.ada.stops(scene.question)
    assert await refused(scene.client.chat_appendStream(**stream, markdown_text="Two.")) == "stopped_by_user"
    event = scene.slack.deliveries[-1].payload["event"]
    assert (event["type"], event["streaming_message_ts"]) == ("agent_session_stopped", [stream["ts"]])
    assert scene.slack.session(scene.question).state == "processing"


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ({}, "no_text"),
        ({"markdown_text": "a" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "poem", "text": "a"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "task_update", "id": "1", "title": "a", "status": "done"}]}, "invalid_chunks"),
        ({"markdown_text": "a", "blocks": []}, "invalid_arguments"),
    ],
)
async def test_what_cannot_be_appended(scene: Scene, what: dict[str, Any], error: str) -> None:
    stream = await scene.started()
    assert await refused(scene.client.chat_appendStream(**stream, **what)) == error


async def test_a_workspace_may_not_know_streams_at_all(scene: Scene) -> None:
    scene.slack.faults.unknown.add("chat.startStream")
    assert await refused(scene.client.chat_startStream(**scene.where)) == "unknown_method"


async def test_no_other_app_writes_into_a_stream(scene: Scene) -> None:
    stream = await scene.started()
    other = scene.slack.platform.install(scene.slack.platform.register(scene.slack.app.manifest), scene.slack.team)
    scene.question.channel.members.append(other.bot.id)
    stranger = client(scene.slack, other.token)
    assert await refused(stranger.chat_appendStream(**stream, markdown_text="a")) == "message_not_owned_by_app"

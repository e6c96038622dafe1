"""An answer on its way into a thread of the local Slack, by every way and through every failure."""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.questions import Answered
from bot.slack.incoming import Me
from bot.slack.replies.pace import Budget, Pace
from bot.slack.replies.progress import Live
from bot.slack.replies.thread import Thread
from bot.slack.views.blocks import Reply, answer_reply, notice_reply
from bot.slack.web import SlackRefusedError, Web
from crag_graph.domain import Answer, Citation, Kind, Stage, TextDelta, TextRestart, Verdict
from tests.slack_workspace import Message, SlackWorkspace

LEAVE = Citation(
    mark=1, kind=Kind.INTERNAL, title="Leave", source="leave.md", location="Parents", quote="16", link="https://x.test"
)
BUTTONS = ("How I got here", "Helpful", "Not helpful")


def reply_of(text: str) -> Reply:
    answer = Answer(text=text, verdict=Verdict.CORRECT, reason="It says so.", citations=(LEAVE,))
    return answer_reply(Answered(question="How long?", answer=answer, trace_id="trace-1", standalone="How long?"))


@dataclass(kw_only=True)
class Desk:
    """Where one question was asked, and everything that an answer to it needs."""

    slack: SlackWorkspace
    question: Message
    thread: Thread
    pace: Pace = field(default_factory=lambda: Pace(patience=0.05, append_every=0.02, edit_every=0.05))
    recorded: list[str] = field(default_factory=list)

    def live(self, placed: dict[int, str] | None = None) -> Live:
        return Live(
            thread=self.thread,
            pace=self.pace,
            user=self.question.author.id,
            team=self.slack.team.id,
            record=self._record,
            find=self.find,
            placed=placed,
        )

    async def find(self) -> dict[int, str]:
        return await self.thread.find(orphans=True)

    async def _record(self, replies: Sequence[str]) -> None:
        self.recorded[:] = replies

    async def answer(self, text: str, *, pieces: int = 8, pause: float = 0.03, slow: bool = True) -> None:
        """An answer that takes its time: two stages, then the text piece by piece."""
        async with self.live() as live:
            await live.show(Stage(node="retrieve"))
            await asyncio.sleep(0.15 if slow else 0)
            await live.show(Stage(node="generate"))
            for piece in cut_in(text, pieces):
                await live.show(TextDelta(text=piece))
                await asyncio.sleep(pause if slow else 0)
            await self.finish(live, reply_of(text))

    async def finish(self, live: Live, reply: Reply) -> None:
        self.recorded[:] = await live.finish(reply)

    @property
    def replies(self) -> list[Message]:
        return self.slack.replies(self.question)

    @property
    def said(self) -> str:
        """Everything that stands in the thread as an answer, without blanks."""
        return "".join("\n".join(reply.screen for reply in self.replies).split())


def cut_in(text: str, pieces: int) -> Iterator[str]:
    size = max(1, -(-len(text) // pieces))
    return (text[start : start + size] for start in range(0, len(text), size))


@pytest.fixture
async def desk(slack: SlackWorkspace, web: Web, me: Me) -> Desk:
    ann = slack.user("Ann")
    place = slack.channel("travel", members=[ann, slack.bot])
    question = await ann.says("@bot How long is leave?", in_=place)
    thread = Thread(web=web, me=me, channel=place.id, root=question.ts, question=question.ts, mark=uuid.uuid4())
    return Desk(slack=slack, question=question, thread=thread)


def numbered(size: int) -> str:
    """Text of about so many characters in which every word is another."""
    words = (f"word{number}{'.' if number % 12 == 11 else ''}" for number in range(size))
    text = ""
    for word in words:
        if len(text) + len(word) > size:
            return f"{text.strip()}."
        text += word + ("\n\n" if len(text) % 700 > 680 else " ")
    return text


def assert_whole(desk: Desk, text: str, *, messages: int | None = 1) -> None:
    """Every word once, in order, and the buttons at the end."""
    said = desk.said
    assert said.count("".join(text.split())) == 1
    assert "word0word1" not in said.replace("".join(text.split()), "")
    assert desk.replies[-1].buttons == BUTTONS
    assert sum(reply.buttons == BUTTONS for reply in desk.replies) == 1
    assert all(reply.is_finished for reply in desk.replies)
    assert desk.slack.status(desk.question) == ""
    assert messages is None or len(desk.replies) == messages
    assert desk.recorded == [reply.ts for reply in desk.replies]


async def test_a_slow_answer_is_streamed_with_its_stages(desk: Desk) -> None:
    text = numbered(400)
    await desk.answer(text)
    assert_whole(desk, text)
    (reply,) = desk.replies
    assert reply.screen.startswith(
        "▸ Searching your documents (complete)\n▸ Writing the answer (complete)\nword0 word1"
    )
    assert len(desk.slack.calls("chat.appendStream")) >= 2
    assert not desk.slack.calls("chat.postMessage")
    assert desk.slack.session(desk.question).states[:1] == ["processing"]


async def test_a_quick_answer_is_one_post_and_its_first_sign_a_status(desk: Desk) -> None:
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert_whole(desk, "Sixteen weeks [1].")
    assert desk.slack.session(desk.question).statuses[0] == "is thinking…"
    assert not desk.slack.calls("chat.startStream")
    assert desk.slack.session(desk.question).states == []
    posted = desk.slack.calls("chat.postMessage")[0].args
    assert (posted["unfurl_links"], posted["unfurl_media"]) == (False, False)
    assert posted["thread_ts"] == desk.question.ts
    assert set(posted["metadata"]["event_payload"]) == {"id", "part"}


@pytest.mark.parametrize("size", [3_001, 4_001, 9_001, 12_001, 14_000, 40_001])
@pytest.mark.parametrize("slow", [True, False])
async def test_an_answer_of_any_length_is_whole(desk: Desk, size: int, slow: bool) -> None:
    text = numbered(size)
    await desk.answer(text, slow=slow, pieces=6)
    assert_whole(desk, text, messages=None)


@pytest.mark.parametrize(
    "fault",
    [
        {"error": "unknown_method"},
        {"status": 404},
        {"error": "channel_type_not_supported"},
        {"error": "restricted_action"},
    ],
)
async def test_where_there_are_no_streams_a_message_is_edited(desk: Desk, fault: dict[str, Any]) -> None:
    desk.slack.faults.next("chat.startStream", **fault)
    text = numbered(400)
    await desk.answer(text, pieces=16)
    assert_whole(desk, text)
    assert desk.replies[0].versions >= 3
    await desk.answer(text, pieces=16)
    assert len(desk.slack.calls("chat.startStream")) == 1, "it is not tried again at once"


async def test_above_the_limit_of_streams_the_answer_is_posted(desk: Desk) -> None:
    desk.pace.streams = Budget(calls=1)
    first, second = numbered(300), numbered(350)
    await desk.answer(first)
    await desk.answer(second)
    assert [reply.versions > 2 for reply in desk.replies] == [True, False]
    assert "Searching your documents…" in desk.slack.session(desk.question).statuses


async def test_a_stream_that_slack_puts_off_becomes_a_post(desk: Desk) -> None:
    desk.slack.faults.next("chat.startStream", status=429, retry_after=30)
    text = numbered(300)
    await desk.answer(text)
    assert_whole(desk, text)
    assert desk.replies[0].versions == 1


@pytest.mark.parametrize("skip", [0, 1, 2])
@pytest.mark.parametrize(
    "fault",
    [
        {"error": "message_not_in_streaming_state"},
        {"error": "msg_too_long"},
        {"drop": True},
        {"drop": True, "late": True},
        {"status": 500},
        {"status": 502, "late": True},
        {"status": 429, "retry_after": 1},
    ],
)
async def test_a_stream_that_dies_ends_as_one_whole_message(desk: Desk, fault: dict[str, Any], skip: int) -> None:
    desk.slack.faults.next("chat.appendStream", skip=skip, **fault)
    text = numbered(500)
    await desk.answer(text)
    assert_whole(desk, text)


@pytest.mark.parametrize(
    "fault",
    [
        {"error": "message_not_in_streaming_state"},
        {"error": "invalid_blocks"},
        {"drop": True},
        {"drop": True, "late": True},
        {"status": 500, "late": True},
        {"status": 429, "retry_after": 1},
    ],
)
async def test_a_stream_whose_end_fails_is_whole_all_the_same(desk: Desk, fault: dict[str, Any]) -> None:
    desk.slack.faults.next("chat.stopStream", **fault)
    text = numbered(500)
    await desk.answer(text)
    assert_whole(desk, text)


async def test_a_stream_that_grows_too_old_is_finished_in_place(desk: Desk) -> None:
    text = numbered(500)
    async with desk.live() as live:
        await live.show(Stage(node="generate"))
        await asyncio.sleep(0.15)
        await live.show(TextDelta(text=text[:250]))
        await asyncio.sleep(0.1)
        desk.slack.clock.advance(301)
        await live.show(TextDelta(text=text[250:]))
        await asyncio.sleep(0.1)
        await desk.finish(live, reply_of(text))
    assert_whole(desk, text)


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 500}])
async def test_a_begin_of_unknown_outcome_leaves_no_second_message(
    desk: Desk, fault: dict[str, Any], late: bool
) -> None:
    desk.slack.faults.next("chat.startStream", late=late, **fault)
    text = numbered(300)
    await desk.answer(text)
    assert_whole(desk, text)


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 500}, {"status": 503}])
async def test_a_post_of_unknown_outcome_is_not_repeated_blindly(desk: Desk, fault: dict[str, Any], late: bool) -> None:
    desk.slack.faults.next("chat.postMessage", late=late, **fault)
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert_whole(desk, "Sixteen weeks [1].")


async def test_a_post_waits_as_long_as_slack_says(desk: Desk) -> None:
    desk.slack.faults.next("chat.postMessage", status=429, retry_after=1)
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert_whole(desk, "Sixteen weeks [1].")
    first, second = desk.slack.calls("chat.postMessage")
    assert second.at - first.at >= 1.0


async def test_an_answer_that_starts_over_shows_only_what_counts(desk: Desk) -> None:
    async with desk.live() as live:
        await live.show(Stage(node="generate"))
        await asyncio.sleep(0.15)
        await live.show(TextDelta(text="Wrong words that were already shown to "))
        await asyncio.sleep(0.1)
        await live.show(TextRestart())
        await live.show(TextDelta(text="Sixteen weeks "))
        await asyncio.sleep(0.1)
        await live.show(TextDelta(text="[1]."))
        await desk.finish(live, reply_of("Sixteen weeks [1]."))
    assert_whole(desk, "Sixteen weeks [1].")
    assert "Wrong" not in desk.said


async def test_an_answer_that_starts_over_before_it_was_shown_is_still_streamed(desk: Desk) -> None:
    async with desk.live() as live:
        await live.show(Stage(node="generate"))
        await asyncio.sleep(0.15)
        await live.show(TextRestart())
        await live.show(TextDelta(text="Sixteen weeks "))
        await asyncio.sleep(0.1)
        await desk.finish(live, reply_of("Sixteen weeks [1]."))
    assert_whole(desk, "Sixteen weeks [1].")
    assert not desk.slack.calls("chat.update")


async def test_blocks_that_slack_refuses_are_said_in_text(desk: Desk) -> None:
    desk.slack.faults.next("chat.postMessage", error="invalid_blocks")
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert [reply.screen.split("\n")[0] for reply in desk.replies] == ["Sixteen weeks [1].", "[How I got here]"]
    assert "Answered from your documents" in desk.replies[0].screen


async def test_buttons_that_slack_refuses_too_are_left_out(desk: Desk) -> None:
    desk.slack.faults.next("chat.postMessage", error="invalid_blocks")
    desk.slack.faults.next("chat.postMessage", error="invalid_blocks", skip=1)
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert len(desk.replies) == 1
    assert "Sixteen weeks [1]." in desk.replies[0].screen


async def test_what_an_earlier_attempt_left_is_taken_up_and_nothing_else_appears(desk: Desk) -> None:
    async with desk.live() as killed:
        await killed.show(Stage(node="generate"))
        await asyncio.sleep(0.15)
        await killed.show(TextDelta(text="Sixteen weeks and "))
        await asyncio.sleep(0.1)
    left = desk.replies[0]
    assert not left.is_finished
    text = numbered(13_000)
    async with desk.live(await desk.find()) as live:
        await live.show(Stage(node="retrieve"))
        await asyncio.sleep(0.15)
        await desk.finish(live, reply_of(text))
    assert_whole(desk, text, messages=2)
    assert desk.replies[0].ts == left.ts


async def test_a_second_delivery_of_a_long_answer_changes_nothing_for_the_reader(desk: Desk) -> None:
    text = numbered(13_000)
    await desk.answer(text, slow=False)
    before = [reply.screen for reply in desk.replies]
    async with desk.live(await desk.find()) as live:
        await desk.finish(live, reply_of(text))
    assert [reply.screen for reply in desk.replies] == before
    async with desk.live(await desk.find()) as live:
        await desk.finish(live, reply_of("Short [1]."))
    assert_whole(desk, "Short [1].")


async def test_a_message_that_cannot_be_changed_is_replaced(desk: Desk) -> None:
    await desk.answer("Old [1].", slow=False)
    desk.slack.faults.next("chat.update", error="edit_window_closed")
    async with desk.live(await desk.find()) as live:
        await desk.finish(live, reply_of("New [1]."))
    assert_whole(desk, "New [1].")


async def test_the_asker_who_presses_stop_is_heard(desk: Desk) -> None:
    async with desk.live() as live:
        await live.show(Stage(node="generate"))
        await asyncio.sleep(0.15)
        await live.show(TextDelta(text="Sixteen weeks "))
        await asyncio.sleep(0.1)
        await next(p for p in [desk.slack.user("Ann")]).stops(desk.question)
        await live.show(TextDelta(text="and then some more text "))
        await asyncio.wait_for(live.stopped.wait(), 3)
        await desk.finish(live, notice_reply("Stopped."))
    assert [reply.screen.split("\n")[-1] for reply in desk.replies] == ["Stopped."]


async def test_a_place_that_takes_no_posts_is_said(desk: Desk) -> None:
    desk.slack.admin.archives(desk.question.channel)
    with pytest.raises(SlackRefusedError, match="is_archived"):
        await desk.answer("Sixteen weeks [1].", slow=False)


async def test_signs_that_do_not_work_harm_nothing(desk: Desk) -> None:
    desk.slack.faults.unknown |= {"assistant.threads.setStatus", "agents.sessions.setStatus"}
    await desk.answer("Sixteen weeks [1].", slow=False)
    await desk.answer("Sixteen weeks [1].", slow=False)
    assert len(desk.slack.calls("assistant.threads.setStatus")) == 1


async def test_edits_keep_to_the_budget_and_the_last_one_is_always_sent(desk: Desk) -> None:
    desk.pace.streaming.close()
    desk.pace.edits = Budget(calls=1)
    text = numbered(300)
    await desk.answer(text, pieces=25)
    assert_whole(desk, text)
    assert len(desk.slack.calls("chat.update")) == 2

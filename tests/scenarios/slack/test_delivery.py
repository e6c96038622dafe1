"""Slack sends things twice, late, broken or not at all, the database goes away: every question is answered once."""

import asyncio
import json
import time

import aiohttp
import pytest
from psycopg import AsyncConnection

from bot.channels.settings import Manner
from bot.slack.incoming import Manners
from bot.slack.replies.pace import Pace
from crag_graph.services import Services
from tests.fakes.services import ScriptedLibrary, ScriptedWriter, trouble
from tests.scenarios.slack.bot import LEAVE, Bot, Options, Stage, running_bot, scripted
from tests.slack_workspace import Manifest, Message, SlackWorkspace, Timing
from tests.slack_workspace.http_delivery import HttpDelivery, sign


def runs(services: Services) -> int:
    """How often the graph ran."""
    library = services.library
    assert isinstance(library, ScriptedLibrary)
    return len(library.queries)


async def only_answer(stage: Stage, question: Message) -> Message:
    """The answer, and nothing else after it."""
    reply = await stage.slack.reply_to(question)
    await stage.slack.quiet()
    assert len(stage.slack.replies(question)) == 1
    return reply


@pytest.mark.parametrize(("attempt", "reason"), [(1, "timeout"), (0, "")])
async def test_what_comes_again_is_acknowledged_and_not_answered_again(
    bot: Bot, stage: Stage, attempt: int, reason: str
) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await only_answer(stage, question)
    before = len(stage.slack.deliveries)
    stage.slack.network.redelivers(question, times=4, attempt=attempt, reason=reason)
    await stage.slack.until(lambda: all(one.ack for one in stage.slack.deliveries[before:]))
    await stage.slack.quiet()
    assert len(stage.slack.deliveries) >= before + 4
    assert runs(bot.services) == 1
    assert len(stage.slack.replies(question)) == 1


async def test_four_deliveries_at_once_make_one_answer(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    stage.slack.network.redelivers(question, times=3, attempt=0)
    await only_answer(stage, question)
    assert runs(bot.services) == 1


async def test_a_mention_raises_two_events_and_gets_one_answer(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
    await only_answer(stage, question)
    kinds = {event.payload["event"]["type"] for event in stage.slack.network.events_of(question)}
    assert kinds == {"app_mention", "message"}


async def test_edits_unfurls_and_deletions_start_nothing(bot: Bot, stage: Stage) -> None:
    question = await stage.ada.says("@bot How many weeks, see https://example.com ?", in_=stage.travel)
    await only_answer(stage, question)
    stage.slack.network.unfurls(question)
    await stage.ada.edits(question, "@bot How many months?")
    await stage.ada.is_shown("I can answer it as it reads now", in_=stage.travel)  # if the asker wants it
    remark = await stage.ada.says("Nothing", in_=stage.travel)
    await stage.ada.edits(remark, "@bot How many days?")
    await stage.ada.deletes(question)
    await stage.slack.quiet()
    assert runs(bot.services) == 1


async def test_bots_and_slackbot_are_not_answered(bot: Bot, stage: Stage) -> None:
    robot = stage.slack.other_bot("Robot")
    stage.travel.members += [robot.id, stage.slack.slackbot.id]
    await robot.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.slackbot.says("@bot How many weeks?", in_=stage.travel)
    await stage.slack.quiet()
    assert runs(bot.services) == 0


async def test_two_bots_do_not_talk_for_ever(stage: Stage) -> None:
    robot = stage.slack.other_bot("Robot")
    stage.travel.members.append(robot.id)
    manners = Manners(bots=frozenset({stage.travel.id}))
    async with stage.bot(options=Options(manners=manners)) as bot:
        root = await robot.says("@bot How many weeks?", in_=stage.travel)
        for turn in range(8):
            await stage.slack.until(lambda: len(stage.slack.replies(root)) >= min(turn + 1, 5))  # noqa: B023 - awaited
            await robot.says("@bot How many weeks?", in_=root)
        await stage.slack.until(lambda: [bool(one.buttons) for one in stage.slack.replies(root)] == [True] * 5)
        await stage.slack.quiet()
        assert runs(bot.services) == 5


async def test_a_channel_may_want_mentions_alone_or_everything(stage: Stage) -> None:
    loud = stage.slack.channel("loud", members=[stage.ada, stage.slack.bot])
    manners = Manners(channels={stage.travel.id: Manner.MENTION, loud.id: Manner.ALL})
    async with stage.bot(options=Options(manners=manners)) as bot:
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.reply_to(question)
        await stage.ada.says("And the second one?", in_=question)
        await stage.slack.quiet()
        assert runs(bot.services) == 1
        await stage.asks("How many weeks?", in_=loud)


async def test_two_apps_in_one_team_each_ignore_only_themselves(bot: Bot, stage: Stage) -> None:
    other = stage.slack.platform.register(Manifest(name="other"))
    installed = stage.slack.platform.install(other, stage.slack.team)
    stage.travel.members.append(installed.bot.id)
    reply = await stage.asks("@bot How many weeks?")
    assert reply.author is stage.slack.bot


async def test_messages_of_another_team_are_not_ours_to_answer(bot: Bot, stage: Stage) -> None:
    abroad = stage.slack.other_team("Globex")
    eve = stage.slack.user("Eve", team=abroad.team)
    place = stage.slack.channel("globex", members=[eve, abroad.bot], team=abroad.team)
    await eve.says(f"<@{abroad.bot.id}> How many weeks?", in_=place, as_typed=False)
    await stage.slack.quiet()
    assert runs(bot.services) == 0


async def test_two_processes_share_one_app_and_answer_once(stage: Stage) -> None:
    first, second = scripted(), scripted()
    async with stage.bot(first), running_bot(stage.slack, stage.database_url, stage.folder, services=second):
        await stage.slack.connected(2)
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(8)]
        for question in questions:
            stage.slack.network.redelivers(question, attempt=1)
            await stage.slack.reply_to(question)
        await stage.slack.quiet()
        assert [len(stage.slack.replies(question)) for question in questions] == [1] * 8
    assert runs(first) + runs(second) == 8


async def test_two_workers_share_the_load(stage: Stage) -> None:
    slow = [
        scripted(library=ScriptedLibrary(spaces={"workspace": [LEAVE]}, trouble=trouble(search=[0.1] * 20)))
        for _ in range(2)
    ]
    options = [Options(at_once=2), Options(at_once=2)]
    async with stage.bot(slow[0], options[0]), stage.bot(slow[1], options[1]):
        await stage.slack.connected(2)
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(12)]
        for question in questions:
            await stage.slack.reply_to(question)
    assert runs(slow[0]) + runs(slow[1]) == 12
    assert min(map(runs, slow)) >= 2


async def test_a_server_without_worker_leaves_the_work_to_others(stage: Stage) -> None:
    services = scripted()
    async with stage.bot(options=Options(works=False)):
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.until(lambda: all(one.ack for one in stage.slack.deliveries))
        async with running_bot(stage.slack, stage.database_url, stage.folder, services=services):
            await stage.slack.reply_to(question)
    assert runs(services) == 1


async def test_questions_of_a_thread_are_answered_in_order(stage: Stage) -> None:
    async with stage.bot(options=Options(http=True)) as bot:
        root = await stage.ada.says("@bot How many weeks, 0?", in_=stage.travel)
        asked = [root, *[await stage.ada.says(f"@bot How many weeks, {n}?", in_=root) for n in range(1, 10)]]
        await stage.slack.until(lambda: len(stage.slack.replies(root)) == 10)
        library = bot.services.library
        assert isinstance(library, ScriptedLibrary)
        assert library.queries == [f"How many weeks, {n}?" for n in range(len(asked))]


async def test_a_burst_of_200_questions_loses_none_and_keeps_each_threads_order(stage: Stage) -> None:
    stage.slack.platform.couriers[stage.slack.app.id]._timing = Timing(retry_after=(0.0, 3.0, 15.0))
    async with stage.bot(options=Options(http=True)) as bot:
        roots = [await stage.ada.says(f"@bot How many weeks, {n}-0?", in_=stage.travel) for n in range(20)]
        for turn in range(1, 10):
            for n, root in enumerate(roots):
                await stage.ada.says(f"@bot How many weeks, {n}-{turn}?", in_=root)
        await stage.slack.until(lambda: sum(len(stage.slack.replies(root)) for root in roots) == 200, within=90)
        library = bot.services.library
        assert isinstance(library, ScriptedLibrary)
        for n in range(20):
            mine = [query for query in library.queries if f", {n}-" in query]
            assert mine == [f"How many weeks, {n}-{turn}?" for turn in range(10)]


async def test_a_refreshed_connection_loses_nothing(stage: Stage) -> None:
    async with stage.bot():
        await stage.slack.network.refreshes()
        await stage.slack.connected()
        await stage.asks("@bot How many weeks?")


async def test_a_connection_that_dies_without_a_word_is_renewed(stage: Stage) -> None:
    async with stage.bot(options=Options(silent=0.5)) as bot:
        await stage.slack.network.cuts()
        await stage.slack.connected()
        await stage.asks("@bot How many weeks?")
        assert bot.slack.silence == 0


async def test_events_that_come_late_are_answered(bot: Bot, stage: Stage) -> None:
    stage.slack.network.holds_events(0.5)
    await stage.asks("@bot How many weeks?")


async def test_nothing_is_acknowledged_that_is_not_stored(stage: Stage) -> None:
    async with stage.bot(options=Options(http=True)):
        async with await AsyncConnection.connect(stage.database_url, autocommit=True) as connection:
            await connection.execute("ALTER TABLE inbox RENAME TO elsewhere")
            question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
            await stage.slack.until(lambda: any(one.failures for one in stage.slack.deliveries))
            assert not any(one.ack for one in stage.slack.network.events_of(question))
            said = await stage.ada.runs("/crag-ask How many weeks?", in_=stage.travel)
            assert "Try again shortly" in said.screen
            await connection.execute("ALTER TABLE elsewhere RENAME TO inbox")
        await only_answer(stage, question)


async def test_a_database_that_restarts_costs_no_question(stage: Stage) -> None:
    async with stage.bot(options=Options(http=True)):
        await stage.asks("@bot How many weeks?")
        async with await AsyncConnection.connect(stage.database_url, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        questions = [await stage.ada.says(f"@bot How many weeks, {n}?", in_=stage.travel) for n in range(5)]
        for question in questions:
            await stage.slack.reply_to(question, within=20)
        await stage.slack.quiet()
        assert [len(stage.slack.replies(question)) for question in questions] == [1] * 5


async def test_slack_that_is_away_for_a_while_gets_the_answer_later(stage: Stage) -> None:
    posting = Options(http=True, pace=Pace(patience=60.0, again_after=0.3))  # on a slow day it would be streamed
    async with stage.bot(options=posting) as bot:
        stage.slack.faults.next("chat.postMessage", status=503, times=6)
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.slack.until(lambda: stage.slack.replies(question), within=60)
        calls = stage.slack.platform.calls
        await stage.slack.until(
            lambda: calls[-1].args.get("status") == ""
        )  # another attempt takes the status away last
        await only_answer(stage, question)
        assert runs(bot.services) == 1, "the answer was kept, not made again"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("not_in_channel", "Invite me there with /invite"),
        ("channel_not_found", "Invite me there with /invite"),
        ("is_archived", "is archived"),
        ("restricted_action", "I may not post"),
        ("some_new_error", "some_new_error"),
    ],
)
async def test_an_answer_that_slack_refuses_is_explained_to_its_asker(stage: Stage, code: str, said: str) -> None:
    async with stage.bot(options=Options(http=True, pace=Pace(patience=60))):
        stage.slack.faults.next("chat.postMessage", error=code)
        question = await stage.ada.says("@bot How many weeks?", in_=stage.travel)
        await stage.ada.is_shown(said, in_=stage.ada.dm)
        await stage.slack.quiet()
        assert stage.slack.replies(question) == []


async def test_limits_of_slack_are_kept_under_load(slack: SlackWorkspace, stage: Stage) -> None:
    slack.platform.rate_limits.enabled = True
    places = [slack.channel(f"place-{n}", members=[stage.ada, slack.bot]) for n in range(10)]
    async with stage.bot(options=Options(http=True)):
        questions = [await stage.ada.says("@bot How many weeks?", in_=place) for place in places for _ in range(3)]
        for question in questions:
            await slack.reply_to(question, within=30)
    assert slack.platform.rate_limits.refused <= 10


async def test_a_model_that_hangs_is_given_up_at_the_deadline(stage: Stage) -> None:
    writer = ScriptedWriter(trouble=trouble(generate=[60.0]))
    services = scripted(writer=writer, spare_writer=ScriptedWriter(quoted=True))
    async with stage.bot(services, Options(http=True, deadline=1.5)):
        started = time.monotonic()
        reply = await stage.asks("@bot How many weeks?")
        assert time.monotonic() - started < 5
        assert "16 weeks" in reply.screen


async def test_many_questions_over_kept_alive_connections_all_work(bot: Bot, stage: Stage) -> None:
    for number in range(24):
        await stage.asks(f"@bot How many weeks, {number}?")


# Signed HTTP


async def post(stage: Stage, body: bytes, **changed: str) -> int:
    """What the bot answers to this request."""
    url = stage.slack.app.request_url
    assert url
    transport = HttpDelivery(session=aiohttp.ClientSession(), urls={}, secret=stage.slack.signing_secret)
    headers = transport.headers(body) | {"Content-Type": "application/json"} | changed
    async with transport._session as session, session.post(url, data=body, headers=headers) as answer:
        return answer.status


async def test_only_what_slack_signed_now_is_taken(bot: Bot, stage: Stage) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "c"}).encode()
    old, secret = str(int(time.time()) - 301), stage.slack.signing_secret
    assert await post(stage, body) == 200
    refused = [
        await post(stage, body, **{"X-Slack-Signature": "v0=" + "0" * 64}),
        await post(stage, body, **{"X-Slack-Signature": "v0=ü"}),
        await post(stage, body, **{"X-Slack-Signature": ""}),
        await post(stage, body, **{"X-Slack-Request-Timestamp": "soon"}),
        await post(stage, body, **{"X-Slack-Request-Timestamp": "-1"}),
        await post(stage, body, **{"X-Slack-Request-Timestamp": "9" * 400}),
        await post(stage, body, **{"X-Slack-Request-Timestamp": old, "X-Slack-Signature": sign(secret, old, body)}),
        await post(stage, b"\xff\xfe", **{"X-Slack-Signature": sign(secret, old, b"\xff\xfe")}),
    ]
    assert refused == [401] * 8
    assert await post(stage, b"x" * 1_000_001) == 413


async def test_signed_nonsense_is_no_server_error(bot: Bot, stage: Stage) -> None:
    statuses = [await post(stage, body) for body in (b"", b"[]", b"{}", b'{"type": "event_callback"}', b"not json")]
    assert all(status < 500 for status in statuses), statuses
    await stage.asks("@bot How many weeks?")


async def test_an_unknown_event_command_or_button_is_taken_quietly(bot: Bot, stage: Stage) -> None:
    delivery = stage.slack.network.sends({"type": "emoji_changed", "event_ts": "1.1"})
    await stage.slack.until(lambda: delivery.ack)
    await asyncio.sleep(0)
    stage.slack.app.manifest = Manifest()
    assert "do not know this command" in (await stage.ada.runs("/crag-dance", in_=stage.travel)).screen

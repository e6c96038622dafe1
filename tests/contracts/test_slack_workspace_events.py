"""Which events Slack raises for what people, bots and admins do."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.slack_workspace import Manifest, Person, SlackWorkspace
from tests.slack_workspace.connect import client
from tests.slack_workspace.world import Conversation


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorkspace]:
    async with SlackWorkspace() as slack:
        yield slack


@pytest.fixture
def ada(slack: SlackWorkspace) -> Person:
    return slack.user("Ada")


@pytest.fixture
def general(slack: SlackWorkspace, ada: Person) -> Conversation:
    return slack.channel("general", members=[ada, slack.bot])


def raised(slack: SlackWorkspace) -> list[dict[str, Any]]:
    return [delivery.payload["event"] for delivery in slack.deliveries]


def kinds(slack: SlackWorkspace) -> list[str]:
    return [f"{e['type']} {e.get('subtype') or e.get('channel_type') or ''}".strip() for e in raised(slack)]


async def test_a_mention_raises_two_events_of_one_message(
    slack: SlackWorkspace, ada: Person, general: Conversation
) -> None:
    await ada.says("@bot hello", in_=general)
    assert kinds(slack) == ["app_mention", "message channel"]
    mention, message = raised(slack)
    assert mention["ts"] == message["ts"]
    assert message["blocks"][0]["elements"][0]["elements"][0] == {"type": "user", "user_id": slack.bot.id}
    assert len({delivery.payload["event_id"] for delivery in slack.deliveries}) == 2


async def test_a_private_channel_and_a_group_dm_are_told_by_their_own_events(
    slack: SlackWorkspace, ada: Person
) -> None:
    bob = slack.user("Bob")
    board = slack.channel("board", members=[ada, slack.bot], private=True)
    await ada.says("hello", in_=board)
    await ada.says("@bot hello", in_=slack.group_dm(ada, bob))
    assert kinds(slack) == ["message group", "app_mention", "message mpim"]


async def test_a_direct_message_raises_message_im_alone_even_with_a_mention(slack: SlackWorkspace, ada: Person) -> None:
    await ada.says("@bot hello", in_=ada.dm)
    assert kinds(slack) == ["message im"]


async def test_nothing_is_told_of_a_channel_that_the_bot_is_not_in(slack: SlackWorkspace, ada: Person) -> None:
    await ada.says("@bot hello", in_=slack.channel("elsewhere", members=[ada]))
    assert raised(slack) == []


async def test_a_first_reply_changes_its_root_too(slack: SlackWorkspace, ada: Person, general: Conversation) -> None:
    root = await ada.says("hello", in_=general)
    await ada.says("anybody?", in_=root)
    await ada.says("hm", in_=root)
    assert kinds(slack) == ["message channel", "message channel", "message message_changed", "message channel"]
    changed = raised(slack)[2]
    assert (changed["message"]["text"], changed["message"]["reply_count"], changed["hidden"]) == ("hello", 1, True)
    assert "ts" in changed
    assert "text" not in changed


async def test_a_reply_also_sent_to_the_channel_comes_as_thread_broadcast_only(
    slack: SlackWorkspace, ada: Person, general: Conversation
) -> None:
    root = await ada.says("hello", in_=general)
    await ada.says("@bot and this?", in_=root, also_to_channel=True)
    assert kinds(slack)[1:3] == ["app_mention", "message thread_broadcast"]
    assert raised(slack)[2]["thread_ts"] == root.ts


async def test_a_shared_file_comes_with_its_address(slack: SlackWorkspace, ada: Person, general: Conversation) -> None:
    report = ada.file("report.txt", b"26 weeks")
    await ada.says("@bot read this", in_=general, files=[report])
    mention, message = raised(slack)
    assert message["subtype"] == "file_share"
    assert mention["files"][0]["id"] == message["files"][0]["id"] == report.id
    assert message["files"][0]["url_private_download"].startswith(slack.platform.host)


async def test_edits_deletions_and_unfurls(slack: SlackWorkspace, ada: Person, general: Conversation) -> None:
    message = await ada.says("helo", in_=general)
    await ada.edits(message, "hello")
    slack.network.unfurls(message)
    await ada.deletes(message)
    _, edit, unfurl, deletion = raised(slack)
    assert (edit["subtype"], edit["message"]["text"], edit["previous_message"]["text"]) == (
        "message_changed",
        "hello",
        "helo",
    )
    assert "edited" in edit["message"]
    assert unfurl["message"]["text"] == unfurl["previous_message"]["text"]
    assert unfurl["message"]["attachments"]
    assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", message.ts)


async def test_a_deleted_root_with_replies_leaves_a_tombstone(
    slack: SlackWorkspace, ada: Person, general: Conversation
) -> None:
    root = await ada.says("hello", in_=general)
    await ada.says("anybody?", in_=root)
    await ada.deletes(root)
    read = await client(slack).conversations_replies(channel=general.id, ts=root.ts)
    assert [m.get("subtype") for m in read["messages"]] == ["tombstone", None]


async def test_bots_hear_of_themselves_of_other_bots_and_of_slackbot(
    slack: SlackWorkspace, ada: Person, general: Conversation
) -> None:
    weather = slack.other_bot("Weather")
    general.members += [weather.id, slack.slackbot.id]
    await client(slack).chat_postMessage(channel=general.id, text="mine")
    await weather.says("rain", in_=general)
    await slack.slackbot.says("Welcome!", in_=general)
    mine, theirs, slackbots = raised(slack)
    assert mine["bot_id"] == slack.bot.bot_id
    assert mine["app_id"] == slack.app.id
    assert theirs["bot_id"] not in {None, mine["bot_id"]}
    assert slackbots["user"] == "USLACKBOT"


async def test_people_of_other_organisations_carry_their_team(slack: SlackWorkspace, ada: Person) -> None:
    eve = slack.user("Eve", stranger=True)
    shared = slack.channel("shared", members=[ada, eve, slack.bot])
    await eve.says("hello", in_=shared)
    assert raised(slack)[0]["user_team"] == eve.account.team.id != slack.team.id
    assert slack.deliveries[0].payload["team_id"] == slack.team.id
    assert slack.deliveries[0].payload["is_ext_shared_channel"]


async def test_what_admins_do_is_told(slack: SlackWorkspace, ada: Person, general: Conversation) -> None:
    slack.admin.renames(general, "all")
    slack.admin.removes(ada, from_=general)
    slack.admin.removes(slack.bot, from_=general)
    slack.admin.revokes_token()
    assert kinds(slack) == [
        "channel_rename",
        "member_left_channel C",
        "member_left_channel C",
        "tokens_revoked",
    ]
    assert raised(slack)[2]["user"] == slack.bot.id


async def test_an_app_hears_only_what_it_subscribed_to_and_may_read(ada: Person) -> None:
    deaf = Manifest(events=frozenset({"app_mention", "message.channels"}), scopes=frozenset({"app_mentions:read"}))
    async with SlackWorkspace(manifest=deaf) as slack:
        bob = slack.user("Bob")
        await bob.says("@bot hello", in_=slack.channel("general", members=[bob, slack.bot]))
        await bob.says("hello", in_=bob.dm)
        assert kinds(slack) == ["app_mention"]


async def test_a_manifest_says_scopes_events_commands_and_shortcuts(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yml"
    path.write_text(
        """
display_information: {name: Librarian}
features:
  bot_user: {display_name: librarian}
  slash_commands:
    - {command: /ask, should_escape: true}
    - {command: /raw}
  shortcuts:
    - {name: Keep this, type: message, callback_id: keep}
oauth_config: {scopes: {bot: [chat:write], bot_optional: [users:read]}}
settings: {event_subscriptions: {bot_events: [app_mention]}}
""",
        encoding="utf-8",
    )
    manifest = Manifest.read(path)
    assert manifest.name == "librarian"
    assert manifest.scopes == {"chat:write", "users:read"}
    assert manifest.events == {"app_mention"}
    assert manifest.commands == frozenset({"/ask", "/raw"})
    assert manifest.escaped_commands == {"/ask"}
    assert manifest.shortcuts == {"Keep this": "keep"}


async def test_two_teams_of_one_app_have_their_own_bot_token_and_channels(slack: SlackWorkspace, ada: Person) -> None:
    globex = slack.other_team("Globex")
    gil = slack.user("Gil", team=globex.team)
    await gil.says("hello", in_=gil.dm)
    assert slack.deliveries[0].payload["team_id"] == globex.team.id
    told = await client(slack, globex.token).auth_test()
    assert (told["team"], told["user_id"]) == ("Globex", globex.bot.id)
    assert globex.bot.id != slack.bot.id

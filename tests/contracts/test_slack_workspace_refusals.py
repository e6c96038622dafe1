"""What Slack refuses, the local Slack refuses: tokens, arguments, places, messages, metadata."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import Manifest, Person, SlackWorkspace
from tests.slack_workspace.arguments import reference
from tests.slack_workspace.connect import client
from tests.slack_workspace.method_table import METHODS
from tests.slack_workspace.world import Conversation


@dataclass(kw_only=True)
class Scene:
    slack: SlackWorkspace
    client: AsyncWebClient
    ada: Person
    general: Conversation

    async def refused(self, method: str, **args: Any) -> str:
        """The error that the method gives, or an empty text."""
        response = await self.answer(method, **args)
        return str(response.get("error", ""))

    async def answer(self, method: str, **args: Any) -> dict[str, Any]:
        try:
            response = await self.client.api_call(method, json=args)
        except SlackApiError as error:
            response = error.response
        assert isinstance(response.data, dict)
        return response.data


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with SlackWorkspace() as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        yield Scene(slack=slack, client=client(slack), ada=ada, general=general)


@pytest.mark.parametrize(("token", "error"), [("", "not_authed"), ("xoxb-wrong", "invalid_auth")])
async def test_a_missing_or_wrong_token_is_refused(scene: Scene, token: str, error: str) -> None:
    with pytest.raises(SlackApiError, match=error):
        await client(scene.slack, token).auth_test()


async def test_a_revoked_token_and_an_uninstalled_app_are_told_apart(scene: Scene) -> None:
    scene.slack.admin.revokes_token()
    assert await scene.refused("auth.test") == "token_revoked"
    scene.slack.admin.uninstalls()
    assert await scene.refused("auth.test") == "account_inactive"


async def test_a_missing_scope_is_named_beside_those_that_were_granted(scene: Scene) -> None:
    scene.slack.admin.takes_scope("reactions:write")
    answer = await scene.answer("reactions.add", channel=scene.general.id, name="eyes", timestamp="1.2")
    assert answer["error"] == "missing_scope"
    assert answer["needed"] == "reactions:write"
    assert "chat:write" in answer["provided"].split(",")


async def test_the_scope_for_reading_follows_the_kind_of_the_conversation() -> None:
    manifest = Manifest(scopes=frozenset({"channels:history", "channels:read"}))
    async with SlackWorkspace(manifest=manifest) as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        board = slack.channel("board", members=[ada, slack.bot], private=True)
        await client(slack).conversations_history(channel=general.id)
        with pytest.raises(SlackApiError) as refused:
            await client(slack).conversations_history(channel=board.id)
    assert refused.value.response["needed"] == "groups:history"


def test_every_method_has_its_facts() -> None:
    assert METHODS.keys() == reference().keys()


async def test_unknown_methods_and_arguments_are_named(scene: Scene) -> None:
    assert await scene.refused("chat.shout") == "unknown_method"
    answer = await scene.answer("chat.postMessage", channel=scene.general.id, text="a", colour="red")
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == ["[ERROR] unknown argument: colour"]
    answer = await scene.answer("chat.update", channel=scene.general.id, text="a")
    assert answer["response_metadata"]["messages"] == ["[ERROR] missing required field: ts"]


async def test_arguments_may_come_as_a_form_with_json_inside(scene: Scene) -> None:
    blocks = '[{"type":"section","text":{"type":"mrkdwn","text":"hello"}}]'
    posted = await scene.client.api_call("chat.postMessage", data={"channel": scene.general.id, "blocks": blocks})
    assert posted["message"]["blocks"][0]["text"]["text"] == "hello"
    with pytest.raises(SlackApiError, match="invalid_blocks_format"):
        await scene.client.api_call("chat.postMessage", data={"channel": scene.general.id, "blocks": "[{"})


@pytest.mark.parametrize("text", ["", "  \n", None])
async def test_a_message_needs_something_to_show(scene: Scene, text: str | None) -> None:
    assert await scene.refused("chat.postMessage", channel=scene.general.id, text=text) == "no_text"


async def test_where_the_bot_may_not_post(scene: Scene) -> None:
    slack = scene.slack
    elsewhere = slack.channel("elsewhere", members=[scene.ada])
    secret = slack.channel("secret", members=[scene.ada], private=True)
    archived = slack.channel("old", members=[scene.ada, slack.bot])
    slack.admin.archives(archived)
    narrow = slack.channel("narrow", members=[scene.ada, slack.bot])
    slack.admin.allows_only_threads(narrow)
    foreign = slack.channel("theirs", members=[], team=slack.other_team("Globex").team)
    expected = {
        elsewhere.id: "not_in_channel",
        secret.id: "channel_not_found",
        foreign.id: "channel_not_found",
        "C0000000": "channel_not_found",
        archived.id: "is_archived",
        narrow.id: "restricted_action_thread_only_channel",
    }
    for channel, error in expected.items():
        assert await scene.refused("chat.postMessage", channel=channel, text="a") == error


async def test_a_person_stands_for_her_direct_messages(scene: Scene) -> None:
    posted = await scene.client.chat_postMessage(channel=scene.ada.id, text="hello")
    assert posted["channel"] == scene.ada.dm.id


async def test_threads_that_are_not_there(scene: Scene) -> None:
    args = {"channel": scene.general.id, "text": "a", "thread_ts": "1.2"}
    assert await scene.refused("chat.postMessage", **args) == "thread_not_found"
    assert await scene.refused("conversations.replies", channel=scene.general.id, ts="1.2") == "thread_not_found"


async def test_a_reply_to_a_reply_is_lost_from_the_thread(scene: Scene) -> None:
    question = await scene.ada.says("hello", in_=scene.general)
    follow_up = await scene.ada.says("anybody?", in_=question)
    await scene.client.chat_postMessage(channel=scene.general.id, text="here", thread_ts=follow_up.ts)
    assert [message.text for message in scene.slack.thread(question)] == ["hello", "anybody?"]


async def test_only_its_own_messages_can_be_changed_or_deleted(scene: Scene) -> None:
    hers = await scene.ada.says("mine", in_=scene.general)
    for method, error in [("chat.update", "cant_update_message"), ("chat.delete", "cant_delete_message")]:
        text = {"text": "ours"} if method == "chat.update" else {}
        assert await scene.refused(method, channel=scene.general.id, ts=hers.ts, **text) == error
        assert await scene.refused(method, channel=scene.general.id, ts="1.2", **text) == "message_not_found"
    assert await scene.refused("chat.getPermalink", channel=scene.general.id, message_ts="1.2") == "message_not_found"


async def test_an_update_takes_four_thousand_characters_and_a_post_is_cut_at_forty_thousand(scene: Scene) -> None:
    posted = await scene.client.chat_postMessage(channel=scene.general.id, text="a" * 40_001)
    assert len(posted["message"]["text"]) == 40_000
    where = {"channel": scene.general.id, "ts": posted["ts"]}
    assert await scene.refused("chat.update", **where, text="a" * 4_000) == ""
    assert await scene.refused("chat.update", **where, text="a" * 4_001) == "msg_too_long"


async def test_markdown_text_stands_alone_and_has_its_limit(scene: Scene) -> None:
    where = {"channel": scene.general.id}
    assert await scene.refused("chat.postMessage", **where, markdown_text="# a", text="a") == "markdown_text_conflict"
    assert await scene.refused("chat.postMessage", **where, markdown_text="a" * 12_001) == "msg_too_long"
    assert await scene.refused("chat.postMessage", **where, markdown_text="a" * 12_000) == ""


async def test_an_update_with_text_alone_takes_the_blocks_away(scene: Scene) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "old"}}]
    posted = await scene.client.chat_postMessage(channel=scene.general.id, text="old", blocks=blocks)
    await scene.client.chat_update(channel=scene.general.id, ts=posted["ts"], text="new")
    [message] = scene.slack.messages(scene.general)
    assert (message.screen, message.blocks, message.versions) == ("new", [], 2)


async def test_metadata_is_checked_and_shown_only_on_request(scene: Scene) -> None:
    where = {"channel": scene.general.id, "text": "a"}
    assert await scene.refused("chat.postMessage", **where, metadata={"id": 1}) == "invalid_metadata_format"
    assert await scene.refused("chat.postMessage", **where, metadata={"event_type": "a"}) == "invalid_metadata_schema"
    big = {"event_type": "a", "event_payload": {"a": "b" * 9000}}
    assert await scene.refused("chat.postMessage", **where, metadata=big) == "metadata_too_large"
    known = {"event_type": "answer", "event_payload": {"id": "42"}}
    posted = await scene.client.chat_postMessage(channel=scene.general.id, text="a", metadata=known)
    for wanted in (True, False):
        read = await scene.client.conversations_replies(
            channel=scene.general.id, ts=posted["ts"], include_all_metadata=wanted
        )
        assert read["messages"][0].get("metadata") == (known if wanted else None)


async def test_reactions_are_added_once(scene: Scene) -> None:
    hers = await scene.ada.says("hello", in_=scene.general)
    where = {"channel": scene.general.id, "timestamp": hers.ts, "name": "eyes"}
    await scene.client.reactions_add(**where)
    assert hers.reactions == {"eyes"}
    assert await scene.refused("reactions.add", **where) == "already_reacted"
    await scene.client.reactions_remove(**where)
    assert await scene.refused("reactions.remove", **where) == "no_reaction"
    assert await scene.refused("reactions.add", **where | {"timestamp": "1.2"}) == "message_not_found"
    assert await scene.refused("reactions.add", **where | {"name": "a b"}) == "invalid_name"


async def test_people_and_direct_messages(scene: Scene) -> None:
    gone = scene.slack.user("Bob")
    scene.slack.admin.deactivates(gone)
    assert (await scene.client.users_info(user=gone.id))["user"]["deleted"]
    assert await scene.refused("users.info", user="U000") == "user_not_found"
    assert await scene.refused("conversations.open", users="U000") == "user_not_found"
    assert await scene.refused("conversations.open", users=gone.id) == "user_disabled"
    opened = await scene.client.conversations_open(users=[scene.ada.id])
    assert opened["channel"]["id"] == scene.ada.dm.id


async def test_what_users_info_tells_of_guests_and_strangers(scene: Scene) -> None:
    guest, stranger = scene.slack.user("Gus", guest=True), scene.slack.user("Eve", stranger=True)
    told = {p.name: (await scene.client.users_info(user=p.id))["user"] for p in (scene.ada, guest, stranger)}
    assert [told[name]["is_restricted"] for name in ("Ada", "Gus", "Eve")] == [False, True, False]
    assert [told[name]["is_stranger"] for name in ("Ada", "Gus", "Eve")] == [False, False, True]
    assert told["Eve"]["team_id"] != told["Ada"]["team_id"]


async def test_user_groups_are_listed_with_their_members(scene: Scene) -> None:
    group = scene.slack.group("hr", scene.ada)
    listed = await scene.client.usergroups_list(include_users=True)
    assert [(g["id"], g["handle"], g["users"]) for g in listed["usergroups"]] == [(group.id, "hr", [scene.ada.id])]


async def test_an_ephemeral_message_needs_its_reader_in_the_channel(scene: Scene) -> None:
    bob = scene.slack.user("Bob")
    args = {"channel": scene.general.id, "text": "psst"}
    assert await scene.refused("chat.postEphemeral", **args, user=bob.id) == "user_not_in_channel"
    await scene.client.chat_postEphemeral(channel=scene.general.id, text="psst", user=scene.ada.id)
    shown = await scene.ada.is_shown("psst", in_=scene.general)
    assert shown.is_private
    assert scene.slack.messages(scene.general) == []


async def test_long_lists_come_in_pages(scene: Scene) -> None:
    question = await scene.ada.says("0", in_=scene.general)
    for number in range(1, 8):
        await scene.ada.says(str(number), in_=question)
    seen = []
    async for page in await scene.client.conversations_replies(channel=scene.general.id, ts=question.ts, limit=3):
        seen += [message["text"] for message in page["messages"]]
    assert seen == list("01234567")
    assert await scene.refused("conversations.history", channel=scene.general.id, cursor="?") == "invalid_cursor"


async def test_conversations_tell_what_they_are(scene: Scene) -> None:
    board = scene.slack.channel("board", members=[scene.ada, scene.slack.bot], private=True)
    shared = scene.slack.channel("shared", members=[scene.slack.user("Eve", stranger=True), scene.slack.bot])
    told = {c.id: (await scene.client.conversations_info(channel=c.id))["channel"] for c in (board, shared)}
    assert told[board.id]["is_private"]
    assert told[shared.id]["is_ext_shared"]
    assert (await scene.client.conversations_info(channel=scene.ada.dm.id))["channel"]["user"] == scene.ada.id
    members = await scene.client.conversations_members(channel=scene.general.id)
    assert members["members"] == [scene.ada.id, scene.slack.bot.id]
    listed = await scene.client.conversations_list(types="public_channel,private_channel")
    assert {channel["name"] for channel in listed["channels"]} == {"general", "board", "shared"}

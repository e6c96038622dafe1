"""What people do at the local Slack reaches a Bolt app, and what the app answers is what they see."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import Manifest, Person, SlackWorkspace, Timing
from tests.slack_workspace.connect import behind_a_request_url, bolt, client, in_socket_mode

Body = dict[str, Any]


def plain(text: str) -> Body:
    return {"type": "plain_text", "text": text}


def button(label: str, action_id: str) -> Body:
    return {"type": "button", "text": plain(label), "action_id": action_id, "value": label.lower()}


@pytest.fixture(params=["sockets", "http"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[tuple[SlackWorkspace, AsyncApp, Person]]:
    """An app that is connected, in either transport; listeners are added by the tests."""
    async with SlackWorkspace() as slack:
        app = bolt(slack)
        way = in_socket_mode if request.param == "sockets" else behind_a_request_url
        async with way(app, slack):
            yield slack, app, slack.user("Ada")


Stage = tuple[SlackWorkspace, AsyncApp, Person]


async def test_a_command_is_answered_in_its_ack_by_its_url_or_by_a_post(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])

    @app.command("/ask")
    async def ask(ack: AsyncAck, respond: AsyncRespond, client: AsyncWebClient, command: Body) -> None:
        if command["text"] == "ack":
            await ack("from the ack")
            return
        await ack()
        if command["text"] == "url":
            await respond("from the url")
        elif command["text"] == "all":
            await respond("for everybody", response_type="in_channel")
        else:
            await client.chat_postEphemeral(channel=command["channel_id"], user=command["user_id"], text="by a post")

    shown = [await ada.runs(f"/ask {what}", in_=general) for what in ("ack", "url", "all", "post")]
    assert [m.screen for m in shown] == ["from the ack", "from the url", "for everybody", "by a post"]
    assert [m.is_private for m in shown] == [True, True, False, True]


async def test_a_command_arrives_escaped_with_names_and_links(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])
    texts: list[str] = []

    @app.command("/ask")
    async def ask(ack: AsyncAck, command: Body) -> None:
        texts.append(command["text"])
        await ack("ok")

    await ada.runs("/ask what did @Ada say in #general about a<b & https://example.com/x?", in_=general)
    [text] = texts
    assert text == (
        f"what did <@{ada.id}|ada> say in <#{general.id}|general> about a&lt;b &amp; <https://example.com/x>?"
    )


async def test_a_button_reaches_the_app_with_its_message_and_its_answer_replaces_it(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])
    bodies: list[Body] = []

    @app.action("share")
    async def share(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await ack()
        bodies.append(body)
        await respond("Shared.", replace_original=True)

    blocks = [{"type": "actions", "elements": [button("Share", "share"), button("Drop", "drop")]}]
    await client(slack).chat_postEphemeral(channel=general.id, user=ada.id, text="Share?", blocks=blocks)
    offer = await ada.is_shown("[Share]", in_=general)
    assert offer.buttons == ("Share", "Drop")
    assert (await ada.clicks("Share", on=offer)).ok
    await slack.until(lambda: offer.screen == "Shared.")
    assert bodies[0]["container"]["is_ephemeral"]
    assert bodies[0]["actions"][0]["value"] == "share"
    assert bodies[0]["user"]["id"] == ada.id


async def test_feedback_buttons_tell_which_side_was_pressed(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])
    values: list[str] = []

    @app.action("feedback")
    async def judged(ack: AsyncAck, action: Body) -> None:
        await ack()
        values.append(action["value"])

    element = {
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": {"text": plain("Helpful"), "value": "good"},
        "negative_button": {"text": plain("Not helpful"), "value": "bad"},
    }
    question = await ada.says("hello", in_=general)
    blocks = [{"type": "context_actions", "elements": [element]}]
    await client(slack).chat_postMessage(channel=general.id, thread_ts=question.ts, text="hi", blocks=blocks)
    reply = await slack.reply_to(question)
    await ada.clicks("Not helpful", on=reply)
    await ada.clicks("Helpful", on=reply)
    assert values == ["bad", "good"]


async def test_the_home_tab_shows_what_was_published(stage: Stage) -> None:
    slack, app, ada = stage
    opened: list[Body] = []

    @app.event("app_home_opened")
    async def home(event: Body, client: AsyncWebClient) -> None:
        opened.append(event)
        if event["tab"] == "home":
            line = {"type": "section", "text": {"type": "mrkdwn", "text": f"*{len(opened)} visits*"}}
            await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": [line]})
        else:
            prompts = [{"title": "Leave", "message": "How many days?"}]
            await client.assistant_threads_setSuggestedPrompts(channel_id=event["channel"], prompts=prompts)

    assert (await ada.opens_home()).screen == "1 visits"
    assert (await ada.opens_home()).screen == "2 visits"
    general = slack.channel("general", members=[ada, slack.bot])
    await ada.opens_messages_tab(looking_at=general)
    await slack.until(lambda: slack.prompts(ada.dm) == ["Leave"])
    assert opened[-1]["context"]["entities"][0]["value"] == general.id


async def test_a_message_shortcut_brings_the_message(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])

    @app.shortcut("keep")
    async def keep(ack: AsyncAck, body: Body, respond: AsyncRespond) -> None:
        await ack()
        await respond(f"Kept: {body['message']['text']}")

    said = await ada.says("The office closes at six.", in_=general)
    assert (await ada.uses_shortcut("keep", on=said)).ok
    assert (await ada.is_shown("Kept", in_=general)).screen == "Kept: The office closes at six."


async def test_a_press_that_is_not_acknowledged_in_time_is_shown_to_have_failed() -> None:
    async with SlackWorkspace(timing=Timing(ack_within=0.1)) as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        app = bolt(slack)

        @app.command("/slow")
        async def slow() -> None:
            pass

        async with in_socket_mode(app, slack):
            shown = await ada.runs("/slow", in_=general)
    assert shown.screen == '/slow failed with the error "operation_timeout"'


async def test_a_command_that_the_manifest_lacks_never_reaches_the_app() -> None:
    async with SlackWorkspace(manifest=Manifest(commands=frozenset({"/ask"}))) as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        assert (await ada.runs("/aks", in_=general)).screen == "/aks is not a valid command."
    assert slack.deliveries == []

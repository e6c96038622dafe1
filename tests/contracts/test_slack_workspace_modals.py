"""Modals at the local Slack: opened, filled in, refused, updated, pushed, closed; triggers and URLs grow old."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_workspace import Person, SlackWorkspace
from tests.slack_workspace.connect import behind_a_request_url, bolt, client, in_socket_mode

Body = dict[str, Any]


def plain(text: str) -> Body:
    return {"type": "plain_text", "text": text}


def button(label: str, action_id: str) -> Body:
    return {"type": "button", "text": plain(label), "action_id": action_id, "value": label.lower()}


SETTINGS: Body = {
    "type": "modal",
    "callback_id": "settings",
    "title": plain("Settings"),
    "submit": plain("Save"),
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "when",
            "label": plain("When to answer"),
            "element": {
                "type": "static_select",
                "action_id": "when",
                "options": [{"text": plain(text), "value": text} for text in ("Mention", "Threads")],
            },
        },
        {
            "type": "input",
            "block_id": "who",
            "optional": True,
            "label": plain("Whom to call"),
            "element": {"type": "multi_users_select", "action_id": "who"},
        },
        {
            "type": "input",
            "block_id": "why",
            "label": plain("Note"),
            "element": {
                "type": "plain_text_input",
                "action_id": "why",
                "initial_value": "as before",
                "max_length": 20,
            },
        },
        {"type": "actions", "block_id": "more", "elements": [button("More", "more")]},
    ],
}


@pytest.fixture(params=["sockets", "http"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[tuple[SlackWorkspace, AsyncApp, Person]]:
    """An app that is connected, in either transport; listeners are added by the tests."""
    async with SlackWorkspace() as slack:
        app = bolt(slack)
        way = in_socket_mode if request.param == "sockets" else behind_a_request_url
        async with way(app, slack):
            yield slack, app, slack.user("Ada")


Stage = tuple[SlackWorkspace, AsyncApp, Person]


async def test_a_modal_is_opened_filled_in_refused_and_accepted(stage: Stage) -> None:
    slack, app, ada = stage
    general = slack.channel("general", members=[ada, slack.bot])
    saved: list[Body] = []

    @app.command("/settings")
    async def settings(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=SETTINGS)
        await client.chat_postEphemeral(channel=body["channel_id"], user=body["user_id"], text="opened")

    @app.view("settings")
    async def submitted(ack: AsyncAck, view: Body) -> None:
        values = view["state"]["values"]
        if values["why"]["why"]["value"] == "because":
            await ack(response_action="errors", errors={"why": "Say more."})
        else:
            saved.append(values)
            await ack()

    await ada.runs("/settings", in_=general)
    modal = await ada.sees_modal("Settings")
    assert modal.fields == ["When to answer", "Whom to call", "Note"]
    with pytest.raises(AssertionError, match="does not submit without 'When to answer'"):
        await ada.submits(modal)
    with pytest.raises(AssertionError, match="does not take 21 characters"):
        await ada.submits(modal, {"When to answer": "Threads", "Note": "a" * 21})
    refused = await ada.submits(modal, {"When to answer": "Threads", "Note": "because"})
    assert (refused.errors, modal.is_open) == ({"Note": "Say more."}, True)
    outcome = await ada.submits(modal, {"When to answer": "Threads", "Whom to call": [ada]})
    assert outcome.ok
    assert outcome.shows is None
    assert saved[0]["when"]["when"]["selected_option"]["value"] == "Threads"
    assert saved[0]["who"]["who"]["selected_users"] == [ada.id]
    assert saved[0]["why"]["why"]["value"] == "as before"


async def test_a_submission_may_update_push_or_clear(stage: Stage) -> None:
    _, app, ada = stage
    answers = iter(["push", "update", "clear"])

    @app.shortcut("open")
    async def opened(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=SETTINGS)

    @app.view("settings")
    async def submitted(ack: AsyncAck) -> None:
        action = next(answers)
        view = None if action == "clear" else SETTINGS | {"title": plain(action)}
        await ack(response_action=action, view=view)

    await ada.uses_shortcut("open")
    modal = await ada.sees_modal()
    filled = {"When to answer": "Mention"}
    titles = []
    for _ in range(3):
        outcome = await ada.submits(modal, filled)
        titles.append(outcome.shows.title if outcome.shows else None)
        modal = outcome.shows or modal
    assert titles == ["push", "update", None]


async def test_a_modals_button_and_its_closing_are_told(stage: Stage) -> None:
    _, app, ada = stage
    heard: list[str] = []

    @app.shortcut("open")
    async def opened(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=SETTINGS)

    @app.action("more")
    async def more(ack: AsyncAck, body: Body, client: AsyncWebClient) -> None:
        await ack()
        view = body["view"]
        updated = SETTINGS | {"title": plain("More settings")}
        await client.views_update(view_id=view["id"], hash=view["hash"], view=updated)
        with pytest.raises(SlackApiError, match="hash_conflict"):
            await client.views_update(view_id=view["id"], hash=view["hash"], view=updated)

    @app.view_closed("settings")
    async def closed(ack: AsyncAck) -> None:
        await ack()
        heard.append("closed")

    await ada.uses_shortcut("open")
    modal = await ada.sees_modal()
    assert (await ada.clicks("More", on=modal)).ok
    assert modal.title == "More settings"
    await ada.closes(modal)
    assert heard == ["closed"]


async def test_what_slack_hands_out_grows_old_and_is_used_up() -> None:
    async with SlackWorkspace() as slack:
        ada = slack.user("Ada")
        general = slack.channel("general", members=[ada, slack.bot])
        trigger = slack.platform.triggers.give(ada.account, slack.installation)
        web = client(slack)
        await web.views_open(trigger_id=trigger.id, view=SETTINGS)
        with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
            await web.views_open(trigger_id=trigger.id, view=SETTINGS)
        with pytest.raises(SlackApiError, match="invalid_trigger_id"):
            await web.views_open(trigger_id="1.2.abc", view=SETTINGS)
        late = slack.platform.triggers.give(ada.account, slack.installation)
        slack.clock.advance(3.1)
        with pytest.raises(SlackApiError, match="expired_trigger_id"):
            await web.views_open(trigger_id=late.id, view=SETTINGS)

        url = slack.platform.response_urls.give(ada.account, slack.installation, general)
        respond = AsyncRespond(response_url=f"{slack.platform.host}response/{url.key}")
        statuses = [(await respond(f"answer {n}")).status_code for n in range(6)]
        assert statuses == [200] * 5 + [404]
        old = slack.platform.response_urls.give(ada.account, slack.installation, general)
        slack.clock.advance(1801)
        answer = await AsyncRespond(response_url=f"{slack.platform.host}response/{old.key}")("late")
        assert (answer.status_code, "expired_url" in answer.body) == (404, True)

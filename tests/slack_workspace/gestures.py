"""What a person's press does: the payload goes to the app, and its answer changes what she sees."""

from typing import Any

from tests.slack_workspace import forms, payloads, posting, responses
from tests.slack_workspace.block_ids import elements
from tests.slack_workspace.blocks import check_view
from tests.slack_workspace.calls import Refusal
from tests.slack_workspace.delivery import Kind, NotAcknowledged
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.methods import views
from tests.slack_workspace.modal import Modal, Outcome
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.screen import labels
from tests.slack_workspace.views import OpenView
from tests.slack_workspace.world import SLACKBOT, Account, Conversation, Json, Post

TROUBLE = "We had some trouble connecting. Try again?"


async def run(
    slack: Platform, installation: Installation, person: Account, place: Conversation, line: str
) -> Post | None:
    """Run a slash command; what its ack shows, if anything, or Slackbot's complaint."""
    name = line.split(maxsplit=1)[0]
    known = installation.app.manifest.commands
    if known is not None and name not in known:
        return _complain(slack, place, person, f"{name} is not a valid command.")
    url = slack.response_urls.give(person, installation, place)
    payload = payloads.command(slack, line, url)
    try:
        ack = await slack.couriers[installation.app.id].ask(Kind.COMMAND, payload)
        return responses.show(slack, url, ack.body) if ack.body else None
    except NotAcknowledged as failure:
        reason = "operation_timeout" if "timeout" in failure.reason else "dispatch_failed"
    except Refusal as refusal:
        reason = refusal.error
    return _complain(slack, place, person, f'{name} failed with the error "{reason}"')


async def press(slack: Platform, installation: Installation, payload: Json) -> Outcome:
    """Send an interaction; the outcome is only whether the app took it."""
    try:
        await slack.couriers[installation.app.id].ask(Kind.INTERACTION, payload)
    except NotAcknowledged as failure:
        return Outcome(error=failure.reason)
    return Outcome()


def button(blocks: list[Json], label: str) -> tuple[str, Json, Json]:
    """The block_id and element that carry this label, and what pressing it adds to the action."""
    for block_id, element in elements(blocks):
        if label not in labels(element):
            continue
        if element["type"] != "feedback_buttons":
            return block_id, element, {}
        side = element["positive_button" if labels(element)[0] == label else "negative_button"]
        return block_id, element, {"text": side["text"], "value": side["value"]}
    there = [label for _, element in elements(blocks) for label in labels(element)]
    raise AssertionError(f"There is no button {label!r}, but {there}")


def choice(blocks: list[Json], option: str) -> tuple[str, Json, Json]:
    """The first select, overflow or radio element that offers this option, and the option chosen."""
    for block_id, element in elements(blocks):
        for offered in element.get("options", []):
            if offered["text"]["text"] == option:
                return block_id, element, {"selected_option": offered}
    raise AssertionError(f"Nothing here offers {option!r}")


async def submit(slack: Platform, view: OpenView, values: dict[str, Any]) -> Outcome:
    """Submit a modal; then it is closed, updated, pushed upon, or says what is wrong."""
    if view.closed:
        raise AssertionError("The modal is closed.")
    state = forms.fill(view.view, values)
    payload = payloads.interaction(slack, view.installation, view.person, "view_submission")
    payload |= {"view": payloads.on_view(view, state)["view"], "response_urls": []}
    try:
        ack = await slack.couriers[view.installation.app.id].ask(Kind.INTERACTION, payload)
        return _answered(slack, view, ack.body or {})
    except (NotAcknowledged, Refusal) as failure:
        return Outcome(error=f"{TROUBLE} ({failure})", shows=Modal(view=view, world=slack.world))


async def close(slack: Platform, view: OpenView) -> None:
    """Dismiss a modal; the app hears of it when it asked to."""
    view.closed = True
    slack.feed.notify()
    if view.view.get("notify_on_close"):
        payload = payloads.interaction(slack, view.installation, view.person, "view_closed")
        payload |= {"view": view.shape(), "is_cleared": False}
        await press(slack, view.installation, payload)


def _answered(slack: Platform, view: OpenView, answer: Json) -> Outcome:
    match answer.get("response_action"):
        case None:
            view.closed = True
        case "clear":
            for one in slack.views.stack_of(view.person):
                one.closed = True
        case "errors":
            return Outcome(errors=_errors(view, answer["errors"]), shows=Modal(view=view, world=slack.world))
        case "update":
            check_view(answer["view"])
            views.show(slack, view, answer["view"])
        case "push":
            check_view(answer["view"])
            slack.views.modals.append(views.make(slack, answer["view"], view.person, view))
        case unknown:
            raise Refusal(f"unknown response_action {unknown}")
    slack.feed.notify(noticed=True)
    stack = slack.views.stack_of(view.person)
    return Outcome(shows=Modal(view=stack[-1], world=slack.world) if stack else None)


def _errors(view: OpenView, errors: dict[str, str]) -> dict[str, str]:
    """By label. An error on a block that is no input is nonsense to Slack."""
    inputs = {block["block_id"]: block["label"]["text"] for block in view.view["blocks"] if block["type"] == "input"}
    if not errors or not errors.keys() <= inputs.keys():
        raise Refusal(f"errors for unknown blocks: {sorted(errors.keys() - inputs.keys())}")
    return {inputs[block_id]: message for block_id, message in errors.items()}


def _complain(slack: Platform, place: Conversation, person: Account, text: str) -> Post:
    return posting.whisper(slack, place, slack.world.accounts[SLACKBOT], person, text)

"""The payloads of commands and interactions, as Slack writes them."""

from typing import Any

from tests.slack_workspace import shapes
from tests.slack_workspace.compose import compose
from tests.slack_workspace.handles import ResponseUrl
from tests.slack_workspace.installation import Installation
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.views import OpenView
from tests.slack_workspace.world import Account, Json, Kind, Post

NAMES = {Kind.DM: "directmessage", Kind.PRIVATE: "privategroup"}


def command(slack: Platform, line: str, url: ResponseUrl) -> Json:
    """A slash command; escaped when the manifest asks for it. All values are text: they travel as a form."""
    name, _, text = line.partition(" ")
    person, installation, place = url.person, url.installation, url.place
    manifest = installation.app.manifest
    if manifest.commands is None or name in manifest.escaped_commands:
        places = [c for c in slack.world.conversations.values() if c.team is person.team]
        text = compose(text, accounts=slack.world.people_of(person.team), channels=places, named=True)
    return {
        "token": installation.app.verification_token,
        "team_id": person.team.id,
        "team_domain": person.team.domain,
        "channel_id": place.id,
        "channel_name": NAMES.get(place.kind) or place.name,
        "user_id": person.id,
        "user_name": person.handle,
        "command": name,
        "text": text.strip(),
        "api_app_id": installation.app.id,
        "is_enterprise_install": "false",
        "response_url": address(slack, url),
        "trigger_id": slack.triggers.give(person, installation).id,
    }


def address(slack: Platform, url: ResponseUrl) -> str:
    return f"{slack.host}response/{url.key}"


def interaction(slack: Platform, installation: Installation, person: Account, kind: str) -> Json:
    """What every interaction tells: who, where, and a trigger."""
    return {
        "type": kind,
        "token": installation.app.verification_token,
        "api_app_id": installation.app.id,
        "team": {"id": person.team.id, "domain": person.team.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": person.id, "username": person.handle, "name": person.handle, "team_id": person.team.id},
        "trigger_id": slack.triggers.give(person, installation).id,
    }


def on_message(slack: Platform, installation: Installation, person: Account, post: Post) -> Json:
    """Where a button of a message stands, and where its answer may go."""
    url = slack.response_urls.give(person, installation, post.channel, on=post)
    container: Json = {
        "type": "message",
        "message_ts": post.ts,
        "channel_id": post.channel.id,
        "is_ephemeral": post.only_for is not None,
    }
    if post.thread_ts:
        container["thread_ts"] = post.thread_ts
    shape: Json = {
        "container": container,
        "channel": {"id": post.channel.id, "name": NAMES.get(post.channel.kind) or post.channel.name},
        "response_url": address(slack, url),
        "state": {"values": {}},
    }
    if post.only_for is None:
        shape["message"] = shapes.message(post, host=slack.host)
    return shape


def on_view(view: OpenView, values: Json) -> Json:
    return {
        "container": {"type": "view", "view_id": view.id},
        "view": view.shape() | {"state": {"values": values}},
    }


def action(element: Json, block_id: str, *, at: str, **chosen: Any) -> Json:
    """What was clicked, with what it was set to."""
    shape = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id, "action_ts": at}
    kept = {name: element[name] for name in ("text", "value", "url", "style") if name in element}
    return shape | kept | chosen

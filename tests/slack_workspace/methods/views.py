"""views.open, views.push, views.update, views.publish."""

from tests.slack_workspace.block_ids import named
from tests.slack_workspace.blocks import check_view
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.views import OpenView
from tests.slack_workspace.world import Account, Json

DEEPEST_STACK = 3


def open_modal(slack: Platform, call: Call) -> Json:
    check_view(call.args["view"])
    person = _exchange(slack, call)
    view = _make(slack, call, person)
    slack.views.modals.append(view)
    slack.feed.notify(noticed=True)
    return {"view": view.shape()}


def push(slack: Platform, call: Call) -> Json:
    check_view(call.args["view"])
    person = _exchange(slack, call)
    stack = slack.views.stack_of(person)
    if not stack:
        raise Refusal("not_found")
    if len(stack) >= DEEPEST_STACK:
        raise Refusal("push_limit_reached")
    view = _make(slack, call, person, below=stack[-1])
    slack.views.modals.append(view)
    slack.feed.notify(noticed=True)
    return {"view": view.shape()}


def update(slack: Platform, call: Call) -> Json:
    check_view(call.args["view"])
    view = slack.views.find(call.text("view_id"), call.text("external_id"))
    if view is None or view.closed or view.installation is not call.by:
        raise Refusal("not_found")
    if call.text("hash") and call.text("hash") != view.hash:
        raise Refusal("hash_conflict")
    show(slack, view, call.args["view"])
    return {"view": view.shape()}


def publish(slack: Platform, call: Call) -> Json:
    check_view(call.args["view"])
    person = slack.world.accounts.get(call.text("user_id"))
    if person is None or person.team is not call.by.team:
        raise Refusal("invalid_arguments", "[ERROR] user_id is not of this team")
    if call.args["view"].get("type") != "home":
        raise Refusal("invalid_arguments", "[ERROR] only a home view can be published")
    known = slack.views.homes.get((call.app.id, person.id))
    if known and call.text("hash") and call.text("hash") != known.hash:
        raise Refusal("hash_conflict")
    if known:
        show(slack, known, call.args["view"])
        return {"view": known.shape()}
    view = _make(slack, call, person)
    slack.views.homes[call.app.id, person.id] = view
    slack.feed.notify(noticed=True)
    return {"view": view.shape()}


def show(slack: Platform, view: OpenView, content: Json) -> None:
    """New content for an open view."""
    view.view = with_names(content)
    view.hash = slack.world.mint("h")
    view.versions += 1
    slack.feed.notify(noticed=True)


def with_names(view: Json) -> Json:
    return view | {"blocks": named(view["blocks"])}


def make(slack: Platform, view: Json, person: Account, below: OpenView) -> OpenView:
    """A view that an app pushed by answering a submission."""
    view_id = slack.world.mint("V")
    return OpenView(
        id=view_id,
        person=person,
        installation=below.installation,
        view=with_names(view),
        root_id=below.root_id,
        previous_id=below.id,
        hash=slack.world.mint("h"),
    )


def _make(slack: Platform, call: Call, person: Account, below: OpenView | None = None) -> OpenView:
    view_id = slack.world.mint("V")
    external = call.args["view"].get("external_id")
    if external and slack.views.find("", external):
        raise Refusal("duplicate_external_id")
    return OpenView(
        id=view_id,
        person=person,
        installation=call.by,
        view=with_names(call.args["view"]),
        root_id=below.root_id if below else view_id,
        previous_id=below.id if below else None,
        hash=slack.world.mint("h"),
    )


def _exchange(slack: Platform, call: Call) -> Account:
    if not call.text("trigger_id"):
        raise Refusal("invalid_arguments", "[ERROR] missing required field: trigger_id")
    if call.args["view"].get("type") != "modal":
        raise Refusal("invalid_arguments", "[ERROR] only a modal can be opened")
    trigger = slack.triggers.exchange(call.text("trigger_id"))
    if trigger.installation is not call.by:
        raise Refusal("invalid_trigger_id")
    return trigger.person

"""conversations.*: what a conversation is, who is in it, what was said."""

from tests.slack_workspace import shapes
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.methods.places import page, visible
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Conversation, Json, Kind, Post

TYPES = {"public_channel": Kind.CHANNEL, "private_channel": Kind.PRIVATE, "im": Kind.DM, "mpim": Kind.GROUP_DM}
LONGEST_PAGE = 999


def info(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel"))
    call.need_for(place, "read")
    shape = shapes.conversation(place, seen_by=call.bot)
    if call.flag("include_num_members"):
        shape["num_members"] = len(place.members)
    return {"channel": shape}


def members(slack: Platform, call: Call) -> Json:
    place = visible(slack, call, call.text("channel"))
    call.need_for(place, "read")
    some, cursor = page(call, [{"id": member} for member in place.members], most=1000)
    return {"members": [member["id"] for member in some], **cursor}


def history(slack: Platform, call: Call) -> Json:
    place = _readable(slack, call)
    roots = [post for post in place.posts.values() if post.thread_ts in (None, post.ts) or post.broadcast]
    return _messages(slack, call, roots[::-1])


def replies(slack: Platform, call: Call) -> Json:
    place = _readable(slack, call)
    asked = place.posts.get(call.text("ts"))
    if asked is None:
        raise Refusal("thread_not_found")
    return _messages(slack, call, place.thread(asked.root))


def open_direct(slack: Platform, call: Call) -> Json:
    if channel := call.text("channel"):
        place = visible(slack, call, channel)
    else:
        place = _direct_with(slack, call, [user for user in call.text("users").split(",") if user])
    if call.flag("return_im"):
        return {"channel": shapes.conversation(place, seen_by=call.bot)}
    return {"channel": {"id": place.id}}


def list_all(slack: Platform, call: Call) -> Json:
    return _listing(slack, call, mine=False)


def list_mine(slack: Platform, call: Call) -> Json:
    return _listing(slack, call, mine=True)


def _readable(slack: Platform, call: Call) -> Conversation:
    place = visible(slack, call, call.text("channel"))
    call.need_for(place, "history")
    if not place.has(call.bot.id):
        raise Refusal("not_in_channel")
    return place


def _messages(slack: Platform, call: Call, posts: list[Post]) -> Json:
    oldest, latest = call.text("oldest", "0"), call.text("latest", "9999999999.999999")
    inclusive = call.flag("inclusive")
    chosen = [p for p in posts if oldest < p.ts < latest or (inclusive and p.ts in {oldest, latest})]
    metadata = call.flag("include_all_metadata")
    shown = [shapes.message(post, host=slack.host, metadata=metadata) for post in chosen]
    some, cursor = page(call, shown, most=LONGEST_PAGE)
    return {"messages": some, "has_more": bool(cursor["response_metadata"]["next_cursor"]), **cursor}


def _direct_with(slack: Platform, call: Call, users: list[str]) -> Conversation:
    if not users:
        raise Refusal("users_list_not_supplied")
    for user in users:
        account = slack.world.accounts.get(user)
        if account is None or account.team is not call.by.team:
            raise Refusal("user_not_found")
        if account.deleted:
            raise Refusal("user_disabled")
    call.need("im:write" if len(users) == 1 else "mpim:write")
    return slack.world.direct(call.by.team, [call.bot.id, *users])


def _listing(slack: Platform, call: Call, *, mine: bool) -> Json:
    kinds = set()
    for name in call.text("types", "public_channel").split(","):
        if name.strip() not in TYPES:
            raise Refusal("invalid_types")
        kinds.add(TYPES[name.strip()])
    whose = call.text("user") or call.bot.id
    seen = [
        shapes.conversation(place, seen_by=call.bot)
        for place in slack.world.conversations.values()
        if place.team is call.by.team
        and place.kind in kinds
        and (place.has(call.bot.id) or not place.is_private)
        and (not mine or place.has(whose))
        and not (place.archived and call.flag("exclude_archived"))
    ]
    some, cursor = page(call, seen, most=1000)
    return {"channels": some, **cursor}

"""users.* and bots.info."""

from tests.slack_workspace import shapes
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.methods.places import page, person
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json


def info(slack: Platform, call: Call) -> Json:
    return {"user": shapes.user(person(slack, call, call.text("user")))}


def list_all(slack: Platform, call: Call) -> Json:
    everybody = [shapes.user(account) for account in slack.world.people_of(call.by.team)]
    some, cursor = page(call, everybody, most=1000)
    return {"members": some, "cache_ts": int(slack.clock.now()), **cursor}


def groups(slack: Platform, call: Call) -> Json:
    known = [group for group in slack.world.groups.values() if group.team is call.by.team]
    return {
        "usergroups": [
            {
                "id": group.id,
                "team_id": group.team.id,
                "handle": group.handle,
                "name": group.handle,
                "is_usergroup": True,
            }
            | ({"users": group.members} if call.flag("include_users") else {})
            for group in known
        ]
    }


def bot_info(slack: Platform, call: Call) -> Json:
    for account in slack.world.people_of(call.by.team):
        if account.bot_id and account.bot_id == call.text("bot"):
            return {
                "bot": {
                    "id": account.bot_id,
                    "app_id": account.app_id,
                    "user_id": account.id,
                    "name": account.name,
                    "deleted": account.deleted,
                }
            }
    raise Refusal("bot_not_found")

"""The Web API methods that this Slack has, by name."""

from collections.abc import Callable

from tests.slack_workspace.calls import Call
from tests.slack_workspace.methods import (
    agents,
    apps,
    chat,
    conversations,
    ephemeral,
    files,
    openid,
    people,
    reactions,
    streams,
    views,
)
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.world import Json

METHODS: dict[str, Callable[[Platform, Call], Json]] = {
    "api.test": apps.api_test,
    "apps.connections.open": apps.connections_open,
    "auth.test": apps.auth_test,
    "auth.revoke": apps.auth_revoke,
    "oauth.v2.access": apps.oauth_access,
    "openid.connect.token": openid.token,
    "openid.connect.userInfo": openid.user_info,
    "team.info": apps.team_info,
    "chat.postMessage": chat.post_message,
    "chat.update": chat.update,
    "chat.delete": chat.delete,
    "chat.getPermalink": chat.get_permalink,
    "chat.postEphemeral": ephemeral.post_ephemeral,
    "chat.startStream": streams.start,
    "chat.appendStream": streams.append,
    "chat.stopStream": streams.stop,
    "conversations.replies": conversations.replies,
    "conversations.history": conversations.history,
    "conversations.info": conversations.info,
    "conversations.members": conversations.members,
    "conversations.open": conversations.open_direct,
    "conversations.list": conversations.list_all,
    "users.info": people.info,
    "users.list": people.list_all,
    "users.conversations": conversations.list_mine,
    "usergroups.list": people.groups,
    "bots.info": people.bot_info,
    "files.info": files.info,
    "files.getUploadURLExternal": files.get_upload_url,
    "files.completeUploadExternal": files.complete_upload,
    "views.open": views.open_modal,
    "views.push": views.push,
    "views.update": views.update,
    "views.publish": views.publish,
    "reactions.add": reactions.add,
    "reactions.remove": reactions.remove,
    "assistant.threads.setStatus": agents.set_status,
    "assistant.threads.setTitle": agents.set_title,
    "assistant.threads.setSuggestedPrompts": agents.set_prompts,
    "agents.sessions.setStatus": agents.set_session,
    "agents.sessions.rename": agents.rename_session,
}

"""How Slack writes its things as JSON: messages, users, conversations, files."""

from tests.slack_workspace.compose import rich_text
from tests.slack_workspace.world import Account, Conversation, Json, Kind, Post, StoredFile


def user(account: Account) -> Json:
    return {
        "id": account.id,
        "team_id": account.team.id,
        "name": account.handle,
        "deleted": account.deleted,
        "real_name": account.name,
        "tz": account.tz,
        "locale": account.locale,
        "profile": {
            "real_name": account.name,
            "display_name": account.name,
            "display_name_normalized": account.name,
            "team": account.team.id,
            **({"bot_id": account.bot_id, "api_app_id": account.app_id} if account.is_bot else {}),
        },
        "is_admin": account.is_admin,
        "is_owner": False,
        "is_restricted": account.is_guest or account.is_single_channel_guest,
        "is_ultra_restricted": account.is_single_channel_guest,
        "is_stranger": account.is_stranger,
        "is_bot": account.is_bot,
        "is_app_user": False,
        "updated": 0,
    }


def conversation(place: Conversation, *, seen_by: Account) -> Json:
    shape: Json = {
        "id": place.id,
        "created": int(place.created),
        "is_archived": place.archived,
        "is_im": place.kind is Kind.DM,
        "is_mpim": place.kind is Kind.GROUP_DM,
        "is_org_shared": False,
        "context_team_id": place.team.id,
    }
    if place.kind is Kind.DM:
        other = next((m for m in place.members if m != seen_by.id), seen_by.id)
        return shape | {"user": other, "is_user_deleted": False, "priority": 0}
    return shape | {
        "name": place.name,
        "name_normalized": place.name,
        "is_channel": place.kind is Kind.CHANNEL,
        "is_group": place.kind is Kind.PRIVATE,
        "is_private": place.is_private,
        "is_general": place.is_general,
        "is_member": place.has(seen_by.id),
        "is_shared": place.shared,
        "is_ext_shared": place.shared,
        "creator": place.members[0] if place.members else "",
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


def file(stored: StoredFile, *, host: str) -> Json:
    private = f"{host}files-pri/{stored.team.id}-{stored.id}/{stored.name}"
    return {
        "id": stored.id,
        "created": int(stored.created),
        "timestamp": int(stored.created),
        "name": stored.name,
        "title": stored.title or stored.name,
        "mimetype": stored.mimetype,
        "filetype": stored.name.rpartition(".")[2].lower(),
        "pretty_type": stored.name.rpartition(".")[2].upper(),
        "user": stored.author.id,
        "user_team": stored.team.id,
        "size": len(stored.content),
        "mode": "external" if stored.external else "hosted",
        "is_external": stored.external,
        "is_public": False,
        "url_private": private,
        "url_private_download": f"{host}files-pri/{stored.team.id}-{stored.id}/download/{stored.name}",
        "permalink": f"{host}files/{stored.author.id}/{stored.id}/{stored.name}",
        "channels": stored.channels,
        "file_access": "visible",
    }


def message(post: Post, *, host: str, metadata: bool = False) -> Json:
    """A message as `conversations.history` returns it and events carry it."""
    author = post.author
    shape: Json = {"type": "message", "user": author.id, "ts": post.ts, "text": post.text, "team": author.team.id}
    if author.is_stranger:
        shape |= {"user_team": author.team.id, "source_team": author.team.id}
    optional: Json = {
        "subtype": post.subtype,
        "blocks": post.blocks or ([rich_text(post.text, block_id=post.ts)] if post.text and not author.is_bot else []),
        "files": [file(stored, host=host) for stored in post.files],
        "attachments": post.attachments,
        "edited": {"user": author.id, "ts": post.edited} if post.edited else None,
        "thread_ts": post.thread_ts,
        "reactions": [{"name": name, "users": who, "count": len(who)} for name, who in post.reactions.items()],
        "metadata": post.metadata if metadata else None,
    }
    return shape | _bot(author) | {name: value for name, value in optional.items() if value} | thread_counters(post)


def _bot(author: Account) -> Json:
    if not author.is_bot:
        return {}
    profile = {"id": author.bot_id, "app_id": author.app_id, "name": author.name, "deleted": False}
    return {"bot_id": author.bot_id, "app_id": author.app_id, "bot_profile": profile}


def thread_counters(post: Post) -> Json:
    """What a root knows of its replies, and a reply of its root."""
    if post.thread_ts and post.thread_ts != post.ts:
        root = post.channel.posts.get(post.thread_ts)
        return {"parent_user_id": root.author.id} if root else {}
    replies = [reply for reply in post.channel.thread(post.ts) if reply.ts != post.ts]
    if not replies:
        return {}
    return {
        "thread_ts": post.ts,
        "reply_count": len(replies),
        "reply_users": list(dict.fromkeys(reply.author.id for reply in replies)),
        "latest_reply": replies[-1].ts,
    }

"""files.info, files.getUploadURLExternal, files.completeUploadExternal."""

import mimetypes

from tests.slack_workspace import posting, shapes
from tests.slack_workspace.calls import Call, Refusal
from tests.slack_workspace.methods.places import postable, thread_of
from tests.slack_workspace.platform import Platform
from tests.slack_workspace.uploads import Upload
from tests.slack_workspace.world import Json, StoredFile


def info(slack: Platform, call: Call) -> Json:
    stored = slack.world.files.get(call.text("file"))
    if stored is None or stored.team is not call.by.team:
        raise Refusal("file_not_found")
    if stored.deleted:
        raise Refusal("file_deleted")
    if not any(slack.world.conversations[channel].has(call.bot.id) for channel in stored.channels):
        raise Refusal("not_visible")
    return {"file": shapes.file(stored, host=slack.host)}


def get_upload_url(slack: Platform, call: Call) -> Json:
    length = call.number("length", 0)
    if length <= 0:
        raise Refusal("invalid_arguments", "[ERROR] length must be more than 0")
    name = call.text("filename")
    upload = slack.uploads.start(file_id=slack.world.mint("F"), name=name, length=length, author=call.bot)
    return {"upload_url": f"{slack.host}upload/v1/{upload.key}", "file_id": upload.file_id}


def complete_upload(slack: Platform, call: Call) -> Json:
    asked = call.args["files"]
    if not isinstance(asked, list) or not asked:
        raise Refusal("invalid_arguments", "[ERROR] files must be a list")
    place = postable(slack, call, call.text("channel_id")) if call.text("channel_id") else None
    stored = []
    for entry in asked:
        upload = slack.uploads.finish(str(entry.get("id")))
        if upload is None:
            raise Refusal("file_not_found")
        stored.append(_store(slack, upload, title=str(entry.get("title") or upload.name)))
    if place:
        for file in stored:
            file.channels.append(place.id)
        thread_ts = thread_of(place, call.text("thread_ts"))
        comment = call.text("initial_comment")
        posting.post(slack, place, call.bot, comment, files=stored, thread_ts=thread_ts, subtype="file_share")
    return {"files": [shapes.file(file, host=slack.host) for file in stored]}


def _store(slack: Platform, upload: Upload, *, title: str) -> StoredFile:
    file = StoredFile(
        id=upload.file_id,
        team=upload.author.team,
        name=upload.name,
        title=title,
        content=upload.content or b"",
        mimetype=mimetypes.guess_type(upload.name)[0] or "application/octet-stream",
        author=upload.author,
        created=slack.clock.now(),
    )
    slack.world.files[file.id] = file
    return file

"""Files on their way in: an upload URL is given, the bytes arrive, then the upload is completed."""

import secrets
from dataclasses import dataclass

from tests.slack_workspace.world import Account


@dataclass(kw_only=True, eq=False)
class Upload:
    key: str
    file_id: str
    name: str
    length: int
    author: Account
    content: bytes | None = None


class Uploads:
    def __init__(self) -> None:
        self._by_key: dict[str, Upload] = {}
        self._by_file: dict[str, Upload] = {}

    def start(self, *, file_id: str, name: str, length: int, author: Account) -> Upload:
        upload = Upload(key=secrets.token_urlsafe(16), file_id=file_id, name=name, length=length, author=author)
        self._by_key[upload.key] = upload
        self._by_file[file_id] = upload
        return upload

    def receive(self, key: str, content: bytes) -> bool:
        """The bytes; false where nobody asked for them or they are not as many as was said."""
        upload = self._by_key.pop(key, None)
        if upload is None or len(content) != upload.length:
            return False
        upload.content = content
        return True

    def finish(self, file_id: str) -> Upload | None:
        upload = self._by_file.get(file_id)
        if upload is None or upload.content is None:
            return None
        return self._by_file.pop(file_id)

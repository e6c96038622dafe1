"""Fetches files that people shared, with our token, from Slack's own host and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from bot.slack.text.mrkdwn import clean
from bot.slack.web import SlackAwayError, SlackRefusedError, Web, heard
from crag_graph.phrases import Phrase

LARGEST = 50_000_000
"""Bytes."""
SECONDS = 120
_SLACK_HOST = "files.slack.com"
_LOGIN_STARTS = (b"<!doctype html", b"<html")
_PAGES = (".html", ".htm", ".xhtml")


ELSEWHERE = Phrase("{name} lies with another service. Download it there and share the file itself.")
TOO_LARGE = Phrase("{name} has more than {megabytes} MB, which is too large.")
NOT_AT_SLACK = Phrase("{name} does not lie with Slack, so it is not fetched.")
NOT_GIVEN = Phrase("Slack does not give {name} away (HTTP {status}).")
NO_SCOPE = Phrase(
    "I may not read files here: the app lacks `files:read`. Have an admin install it anew with its manifest."
)
GONE = Phrase("The file is gone. Share it again.")
REFUSED = Phrase("Slack does not let me read the file ({code}).")


class FileError(Exception):
    """The file cannot be fetched; the message says why, for the person who shared it."""


@dataclass(frozen=True, kw_only=True)
class SharedFile:
    name: str
    data: bytes
    permalink: str


class Files:
    """`host` is where the token may go: Slack's file host, or the configured one where Slack is not Slack's own."""

    def __init__(self, web: Web, *, token: str, api_url: str) -> None:
        self._web = web
        self._token = token
        own = urlsplit(api_url)
        self._hosts = {_SLACK_HOST} if own.hostname == "slack.com" else {own.netloc}

    async def fetch(self, file: str) -> SharedFile:
        """Raises FileError, or SlackAwayError where Slack does not answer."""
        try:
            told: Mapping[str, Any] = (await heard(self._web.patient.files_info(file=file)))["file"]
        except SlackRefusedError as refused:
            raise FileError(_refusal(refused.code)) from refused
        name = clean(told.get("name") or told.get("title") or "") or file
        if told.get("is_external") or told.get("mode") == "external":
            raise FileError(ELSEWHERE(name=name))
        if int(told.get("size") or 0) > LARGEST:
            raise FileError(TOO_LARGE(name=name, megabytes=LARGEST // 1_000_000))
        data = await self._download(told.get("url_private_download") or told.get("url_private") or "", name)
        if _is_page(data) and not (name.lower().endswith(_PAGES) and len(data) == told.get("size")):
            raise FileError(_refusal("missing_scope"))  # Slack's login page, with HTTP 200
        return SharedFile(name=name, data=data, permalink=clean(told.get("permalink") or ""))

    async def _download(self, address: str, name: str) -> bytes:
        if urlsplit(address).netloc not in self._hosts:
            raise FileError(NOT_AT_SLACK(name=name))
        try:
            async with self._web.session.get(
                address,
                headers={"Authorization": f"Bearer {self._token}"},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=SECONDS),
            ) as response:
                return await _content(response, name)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SlackAwayError(type(error).__name__) from error


async def _content(response: aiohttp.ClientResponse, name: str) -> bytes:
    if response.status >= 500:  # noqa: PLR2004 - HTTP
        raise SlackAwayError(f"http_{response.status}")
    if response.status != 200:  # noqa: PLR2004 - HTTP
        raise FileError(NOT_GIVEN(name=name, status=response.status))
    data = bytearray()
    async for piece in response.content.iter_chunked(1 << 16):
        data += piece
        if len(data) > LARGEST:
            raise FileError(TOO_LARGE(name=name, megabytes=LARGEST // 1_000_000))
    return bytes(data)


def _is_page(data: bytes) -> bool:
    return data[:200].lstrip().lower().startswith(_LOGIN_STARTS)


def _refusal(code: str) -> str:
    if code in {"missing_scope", "not_allowed_token_type"}:
        return NO_SCOPE()
    if code in {"file_deleted", "file_not_found"}:
        return GONE()
    return REFUSED(code=code)

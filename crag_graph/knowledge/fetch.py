"""Fetches a document from the web without being led into a private network."""

import asyncio
import ssl
import zlib
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SOCK_STREAM, gaierror
from typing import ClassVar

import httpx

from crag_graph.knowledge.errors import DocumentError, TooLargeError
from crag_graph.phrases import Phrase, amount

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[Address]]]

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_IPV4_WITHIN = 0xFFFFFFFF
_LAST_PORT = 65535
_OUR_NAME = "crag/0.1 (document library)"
_MOST_REDIRECTS = 5
_CONNECT_TIMEOUT = 10.0


class AddressRefusedError(DocumentError):
    problem: ClassVar = Phrase("The address may not be fetched.")


class AddressUnreachableError(DocumentError):
    problem: ClassVar = Phrase("The address did not answer.")


class AddressRejectedError(DocumentError):
    problem: ClassVar = Phrase("The address does not give the document.")


@dataclass(frozen=True, kw_only=True)
class Fetched:
    data: bytes
    content_type: str
    """As sent: `text/html; charset=utf-8`; empty where nothing was said."""
    final_url: str
    """Where the redirects ended."""


class Fetcher:
    """Fetches over http and https from public addresses.

    Each host is resolved once, every address that it has is checked, and the connection goes to one of
    those very addresses; a redirect is checked like a new address. `allowed_hosts` (names or literal
    addresses, as written in the address) are not checked. `size` in bytes, after decompression; `seconds`
    for all redirects and the body together.
    """

    def __init__(
        self,
        *,
        allowed_hosts: Collection[str] = (),
        size: int = 50_000_000,
        seconds: float = 60.0,
        resolve: Resolve | None = None,
        trusted: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = frozenset(host.lower().strip("[]") for host in allowed_hosts)
        self._size = size
        self._seconds = seconds
        self._resolve = resolve or _resolved
        self._trusted = trusted or ssl.create_default_context()

    async def fetch(self, url: str) -> Fetched:
        """Raises a DocumentError: refused, unreachable, rejected (no 2xx, a loop, an odd encoding) or too large."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(_parsed(url))
        except TimeoutError as error:
            raise AddressUnreachableError(
                Phrase("It was not done after {seconds} seconds."), seconds=f"{self._seconds:g}"
            ) from error

    async def _follow(self, url: httpx.URL) -> Fetched:
        for _ in range(_MOST_REDIRECTS + 1):
            found = await self._hop(url)
            if isinstance(found, Fetched):
                return found
            url = found
        raise AddressRejectedError(Phrase("It redirects more than {most} times."), most=_MOST_REDIRECTS)

    async def _hop(self, url: httpx.URL) -> Fetched | httpx.URL:
        """The document, or where the address redirects to."""
        problem = ""
        for address in await self._addresses(url):
            try:
                return await self._ask(url, address)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                problem = str(error)
            except httpx.TransportError as error:
                raise AddressUnreachableError(str(error)) from error
        raise AddressUnreachableError(problem)

    async def _addresses(self, url: httpx.URL) -> list[Address]:
        """All addresses of the host; refused if one of them is not public."""
        addresses = await self._resolve(
            url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80)
        )
        if url.host.lower() not in self._allowed and not all(map(is_public, addresses)):
            raise AddressRefusedError(Phrase("{host} is not on the public internet."), host=url.host)
        return addresses

    async def _ask(self, url: httpx.URL, address: Address) -> Fetched | httpx.URL:
        """Connects to the address itself; the host's name goes into the Host header and the TLS handshake."""
        transport = httpx.AsyncHTTPTransport(verify=self._trusted, trust_env=False)
        request = httpx.Request(
            "GET",
            url.copy_with(host=str(address)),
            headers={
                "Host": url.netloc.decode("ascii"),
                "User-Agent": _OUR_NAME,
                "Accept": "*/*",
                "Accept-Encoding": "gzip",
            },
            extensions={
                "sni_hostname": url.raw_host.decode("ascii"),
                "timeout": {"connect": _CONNECT_TIMEOUT, "read": self._seconds, "write": self._seconds, "pool": 1.0},
            },
        )
        async with transport:
            response = await transport.handle_async_request(request)
            try:
                return await self._answer(url, response)
            finally:
                await response.aclose()

    async def _answer(self, url: httpx.URL, response: httpx.Response) -> Fetched | httpx.URL:
        if response.is_redirect and "location" in response.headers:
            return _parsed(response.headers["location"], url)
        if not response.is_success:
            raise AddressRejectedError(
                Phrase("{host} answers with status {status}."), host=url.host, status=response.status_code
            )
        return Fetched(
            data=await self._body(response),
            content_type=response.headers.get("content-type", ""),
            final_url=str(url),
        )

    async def _body(self, response: httpx.Response) -> bytes:
        """At most `size` bytes; decompressed piece by piece, so that a bomb is cut off as well."""
        with suppress(ValueError):
            self._check_size(int(response.headers.get("content-length", "0")))
        zipped = _is_zipped(response.headers.get("content-encoding", ""))
        unzip = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        body = bytearray()
        try:
            async for piece in response.aiter_raw():
                body += unzip.decompress(piece, self._size + 1 - len(body)) if zipped else piece
                self._check_size(len(body))
        except zlib.error as error:
            raise AddressRejectedError(Phrase("Its compression is damaged.")) from error
        if zipped and not unzip.eof:
            raise AddressUnreachableError(Phrase("The end of it is missing."))
        return bytes(body)

    def _check_size(self, size: int) -> None:
        if size > self._size:
            raise TooLargeError(Phrase("{most} bytes are allowed."), most=amount(self._size))


def is_public(address: Address) -> bool:
    """On the public internet; an IPv4 address within an IPv6 one (mapped, NAT64, 6to4) counts as itself."""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast
    within = address.ipv4_mapped or address.sixtofour
    if address in _NAT64:
        within = IPv4Address(int(address) & _IPV4_WITHIN)
    if within is not None:
        return is_public(within)
    return address in _GLOBAL_UNICAST and address.is_global


def _parsed(url: str, base: httpx.URL | None = None) -> httpx.URL:
    try:
        parsed = base.join(url) if base else httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as error:
        raise AddressRefusedError(Phrase("It is not a web address.")) from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise AddressRefusedError(Phrase("Only http:// and https:// addresses are fetched."))
    if not 0 < (parsed.port or 1) <= _LAST_PORT:
        raise AddressRefusedError(Phrase("Its port is beyond 65535."))
    if parsed.userinfo:
        raise AddressRefusedError(Phrase("It carries a name or password."))
    return parsed.copy_with(fragment=None)


async def _resolved(host: str, port: int) -> list[Address]:
    """The system's answer; it also reads the odd spellings of IPv4 addresses (0x7f.1, 2130706433)."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
        return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    except (gaierror, ValueError) as error:
        raise AddressUnreachableError(Phrase("There is no host named {host}."), host=host) from error


def _is_zipped(encoding: str) -> bool:
    encoding = encoding.strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip"}:
        raise AddressRejectedError(
            Phrase("It is packed in a way that was not asked for: {encoding}."), encoding=encoding[:40]
        )
    return encoding.endswith("gzip")

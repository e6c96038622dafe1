import asyncio
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address

import pytest
import trustme

from crag_graph.knowledge.errors import TooLargeError
from crag_graph.knowledge.fetch import (
    Address,
    AddressRefusedError,
    AddressRejectedError,
    AddressUnreachableError,
    Fetcher,
    is_public,
)
from tests.fakes.pages import Endless, Hang, Page, PageServer, redirect, zipped


@pytest.fixture
async def server() -> AsyncIterator[PageServer]:
    async with PageServer(pages={"/": Page(body=b"<p>Text.")}).running() as running:
        yield running


def fetcher(*allowed: str, size: int = 1_000_000, seconds: float = 5.0) -> Fetcher:
    return Fetcher(allowed_hosts=allowed or ("127.0.0.1",), size=size, seconds=seconds)


class Names:
    """A name server: gives each host its addresses, and counts how often it was asked."""

    def __init__(self, **hosts: list[str]) -> None:
        self.hosts = {name.replace("_", "."): addresses for name, addresses in hosts.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append(host)
        return [ip_address(address) for address in self.hosts[host]]


async def test_a_page_comes_with_its_type_and_address(server: PageServer) -> None:
    fetched = await fetcher().fetch(f"{server.base_url}/#part")
    assert (fetched.data, fetched.content_type) == (b"<p>Text.", "text/html; charset=utf-8")
    assert fetched.final_url == f"{server.base_url}/"


async def test_redirects_are_followed_up_to_five_times(server: PageServer) -> None:
    server.pages |= {f"/{n}": redirect(f"/{n - 1}") for n in range(1, 8)} | {"/0": Page(body=b"there")}
    fetched = await fetcher().fetch(f"{server.base_url}/5")
    assert (fetched.data, fetched.final_url) == (b"there", f"{server.base_url}/0")
    with pytest.raises(AddressRejectedError, match="more than 5 times"):
        await fetcher().fetch(f"{server.base_url}/6")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://[fec0::1]/",
        "http://[::127.0.0.1]/",
        "http://224.0.0.1/",
        "http://[ff02::1]/",
        "http://255.255.255.255/",
        "https://127.0.0.1/",
    ],
)
async def test_addresses_that_are_not_public_are_refused(url: str) -> None:
    with pytest.raises(AddressRefusedError, match="public internet"):
        await Fetcher().fetch(url)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://x.example/", "gopher://x.example/", "data:text/plain,x", "x.example", ""),
        *("http://", "http:///x", "http://x.exa\nmple/", "http://１２７.0.0.1/", "javascript:x", "http://[::1/"),
        *("unix:///var/run/x", "http://x.example:99999/", "http://0177.0.0.1/"),
    ],
)
async def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(AddressRefusedError):
        await Fetcher().fetch(url)


async def test_credentials_in_the_address_are_refused(server: PageServer) -> None:
    with pytest.raises(AddressRefusedError, match="password"):
        await fetcher().fetch(server.base_url.replace("//", "//name:secret@"))
    assert server.requests == []


async def test_a_redirect_into_a_private_network_is_refused(server: PageServer) -> None:
    server.pages |= {"/a": redirect("http://169.254.169.254/"), "/b": redirect(f"http://localhost:{server.port}/")}
    server.pages |= {"/c": redirect("file:///etc/passwd"), "/d": redirect(f"//u:p@127.0.0.1:{server.port}/")}
    for path in ("/a", "/b", "/c", "/d"):
        with pytest.raises(AddressRefusedError):
            await fetcher().fetch(server.base_url + path)
    assert {request.path for request in server.requests} == {"/a", "/b", "/c", "/d"}


async def test_a_name_that_leads_to_a_private_address_is_refused_without_a_connection(server: PageServer) -> None:
    names = Names(evil_example=["8.8.8.8", "127.0.0.1"])
    with pytest.raises(AddressRefusedError):
        await Fetcher(resolve=names).fetch(f"http://evil.example:{server.port}/")
    assert server.requests == []


async def test_the_connection_goes_to_the_very_address_that_was_checked(server: PageServer) -> None:
    names = Names(docs_example=["127.0.0.1"])
    fetched = await Fetcher(allowed_hosts=["docs.example"], resolve=names).fetch(f"http://docs.example:{server.port}/")
    assert fetched.data == b"<p>Text."
    assert names.asked == ["docs.example"]
    assert [request.host for request in server.requests] == [f"docs.example:{server.port}"]


async def test_another_address_of_the_host_is_tried_when_one_does_not_answer(server: PageServer) -> None:
    names = Names(docs_example=["127.0.0.9", "127.0.0.1"])
    fetch = Fetcher(allowed_hosts=["DOCS.example"], resolve=names)
    assert (await fetch.fetch(f"http://docs.example:{server.port}/")).data == b"<p>Text."


async def test_tls_checks_the_name_although_the_connection_goes_to_an_address() -> None:
    authority, names = trustme.CA(), Names(docs_example=["127.0.0.1"], other_example=["127.0.0.1"])
    serving, trusted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("docs.example").configure_cert(serving)
    authority.configure_trust(trusted)
    fetch = Fetcher(allowed_hosts=names.hosts, resolve=names, trusted=trusted)
    async with PageServer(pages={"/": Page(body=b"safe")}, tls=serving).running() as server:
        assert (await fetch.fetch(f"https://docs.example:{server.port}/")).data == b"safe"
        with pytest.raises(AddressUnreachableError, match=r"other\.example"):
            await fetch.fetch(f"https://other.example:{server.port}/")
        with pytest.raises(AddressUnreachableError):
            await Fetcher(allowed_hosts=names.hosts, resolve=names).fetch(f"https://docs.example:{server.port}/")


async def test_an_endless_body_is_cut_off(server: PageServer) -> None:
    server.pages |= {"/fast": Endless(), "/slow": Endless(pause=0.05), "/hang": Hang()}
    with pytest.raises(TooLargeError, match="1,000,000 bytes are allowed"):
        await fetcher().fetch(f"{server.base_url}/fast")
    for path in ("/slow", "/hang"):
        with pytest.raises(AddressUnreachableError, match=r"0\.3 seconds"):
            await fetcher(size=10**9, seconds=0.3).fetch(server.base_url + path)


async def test_a_body_that_announces_too_much_is_refused_at_once(server: PageServer) -> None:
    server.pages["/big"] = Page(body=b"x" * 2_000)
    with pytest.raises(TooLargeError):
        await fetcher(size=1_999).fetch(f"{server.base_url}/big")
    assert len((await fetcher(size=2_000).fetch(f"{server.base_url}/big")).data) == 2_000


async def test_a_zipped_body_is_unpacked_and_a_bomb_cut_off(server: PageServer) -> None:
    packed = zipped(b"many words " * 100).body
    server.pages |= {"/zip": zipped(b"words"), "/bomb": zipped(bytes(30_000_000))}
    server.pages |= {"/exact": zipped(bytes(1_000_000)), "/beyond": zipped(bytes(1_000_001))}
    server.pages["/cut"] = Page(body=packed[:-12], headers={"Content-Encoding": "gzip"})
    server.pages["/rubbish"] = Page(body=b"rubbish", headers={"Content-Encoding": "gzip"})
    server.pages["/brotli"] = Page(body=b"rubbish", headers={"Content-Encoding": "br"})
    assert (await fetcher().fetch(f"{server.base_url}/zip")).data == b"words"
    assert len((await fetcher().fetch(f"{server.base_url}/exact")).data) == 1_000_000
    for path in ("/bomb", "/beyond"):
        with pytest.raises(TooLargeError):
            await fetcher().fetch(server.base_url + path)
    with pytest.raises(AddressUnreachableError, match="end of it is missing"):
        await fetcher().fetch(f"{server.base_url}/cut")
    with pytest.raises(AddressRejectedError, match="damaged"):
        await fetcher().fetch(f"{server.base_url}/rubbish")
    with pytest.raises(AddressRejectedError, match="br"):
        await fetcher().fetch(f"{server.base_url}/brotli")


async def test_a_status_other_than_success_is_told(server: PageServer) -> None:
    server.pages["/500"] = Page(status=500)
    with pytest.raises(AddressRejectedError, match="status 404"):
        await fetcher().fetch(f"{server.base_url}/nowhere")
    with pytest.raises(AddressRejectedError, match="status 500"):
        await fetcher().fetch(f"{server.base_url}/500")


async def test_a_host_that_is_away_or_unknown_is_told(server: PageServer) -> None:
    with pytest.raises(AddressUnreachableError):
        await fetcher().fetch("http://127.0.0.1:9/")
    with pytest.raises(AddressUnreachableError, match=r"no host named nowhere\.invalid"):
        await fetcher().fetch("http://nowhere.invalid/")
    with pytest.raises(AddressUnreachableError):
        await fetcher().fetch(f"http://{'a' * 80}.invalid/")


async def test_a_server_that_breaks_the_protocol_is_told() -> None:
    async def rude(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"what is http?\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(rude, "127.0.0.1", 0) as serving:
        port = serving.sockets[0].getsockname()[1]
        with pytest.raises(AddressUnreachableError):
            await fetcher().fetch(f"http://127.0.0.1:{port}/")

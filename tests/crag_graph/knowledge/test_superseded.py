from datetime import date

import pytest

from crag_graph.knowledge.documents import Block, BlockKind, LoadedDocument
from crag_graph.knowledge.superseded import is_superseded

TODAY = date(2025, 6, 15)


def superseded(*texts: str, source: str = "handbook/leave.md", title: str = "Leave", properties: str = "") -> bool:
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=text) for text in texts)
    document = LoadedDocument(source=source, title=title, loader="markdown", blocks=blocks, properties=properties)
    return is_superseded(document, today=TODAY)


@pytest.mark.parametrize(
    "source",
    [
        "handbook/archive/leave.md",
        "Archiv\\leave.md",
        "a/_old/leave.md",
        "leave-superseded.md",
        "leave_old.docx",
        "leave (archived).pdf",
    ],
)
def test_a_folder_or_name_says_so(source: str) -> None:
    assert superseded("Text.", source=source)


@pytest.mark.parametrize(
    "title", ["[Superseded] Leave", "OBSOLETE: Leave", "Leave (old)", "Leave – archived", "Leave 2019 deprecated"]
)
def test_a_title_says_so(title: str) -> None:
    assert superseded("Text.", title=title)


@pytest.mark.parametrize(
    "text",
    [
        "Superseded. See the new one.",
        "Status: archived",
        "> **Superseded by** the leave policy of 2024",
        "Replaced by: Leave 2024",
        "This policy has been replaced by the policy of 2024.",
        "Note that this old travel policy is no longer valid.",
        "This document was withdrawn in May.",
        "This version is obsolete",
        "This policy was valid until 28 February 2025; the travel pages replace it.",
        "Valid until 2024-12-31",
        "Valid until: December 31, 2024",
        "The policy applies until May 2025.",
        "Expired on 14/06/2025",
        "Gültig bis 31.12.2024",
        "This edition is in force until 2024.",
    ],
)
def test_the_first_lines_say_so(text: str) -> None:
    assert superseded("Leave at the company.", text)


@pytest.mark.parametrize(
    "properties",
    ["status: superseded", "owner: Me\narchived: true", "valid_until: 2025-06-14", "Archived", 'expires: "2024-01-01"'],
)
def test_the_properties_say_so(properties: str) -> None:
    assert superseded("Text.", properties=properties)


@pytest.mark.parametrize(
    "text",
    [
        "This policy supersedes the 2023 version.",
        "This policy supersedes and replaces all earlier rules.",
        "It holds from 1 March 2025 and replaces the travel policy of 2022.",
        "The 2023 version is replaced by this policy.",
        "Replaced by this document: the policy of 2019.",
        "Superseded versions are kept in the archive.",
        "Archived data is kept for ten years.",
        "Deprecated functions are listed below.",
        "This policy is valid until 31 December 2025.",
        "Valid until 2025-06-15",
        "Valid until 31 February 2020",
        "This policy applies until it is replaced.",
        "They expire on 31 March unless you are ill.",
        "This policy explains what happens to obsolete laptops.",
        "A visa may be valid until 2020.",
        "Expired on 15/06/2025",
    ],
)
def test_a_current_document_is_not_taken_for_an_old_one(text: str) -> None:
    assert not superseded(text)


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("https://ours.slack.com/archives/C1/p2", "Leave"),
        ("https://x.example/archive/leave.html", "Leave"),
        ("handbook/archive.md", "Archive"),
        ("old-town/leave.md", "Leave in the old town"),
        ("a.md", "Superseded documents: how to handle them"),
        ("a.md", "The archived data policy"),
        ("threshold.md", "Household"),
    ],
)
def test_a_word_that_means_something_else_is_no_sign(source: str, title: str) -> None:
    assert not superseded("Text.", source=source, title=title)


def test_what_stands_further_down_is_about_something_else() -> None:
    assert not superseded("One.", "Two.", "Three.", "This policy has been replaced by the policy of 2024.")

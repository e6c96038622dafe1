import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag_graph.knowledge.editions import Edition, edition_of


@pytest.mark.parametrize(
    "titles",
    [
        ("Leave policy 2023", "Leave policy 2025"),
        ("Leave policy (2023) — SUPERSEDED", "Leave Policy: 2025"),
        ("Release notes 8.4 (27 May 2025)", "Release notes 8.5 (16 September 2025)"),
        ("Release notes 8.9", "Release notes 8.10"),
        ("API reference (version 2, superseded)", "API reference (version 3)"),
        ("Handbook v2", "Handbook v12"),
        ("Minutes of the council, 14 May 2025", "Minutes of the council, 10 September 2025"),
        ("Limits (2022 to 31 March 2025, SUPERSEDED)", "Limits (from 1 April 2025)"),
        ("Price list 2024-12-31", "Price list 2025-06-30"),
        ("2025 09 02 helpdesk", "2025 10 01 helpdesk"),
    ],
)
def test_later_editions_are_of_one_family_and_sort_behind_earlier_ones(titles: tuple[str, str]) -> None:
    earlier, later = map(edition_of, titles)
    assert earlier.family == later.family != ""
    assert earlier.order < later.order


@pytest.mark.parametrize(
    "titles",
    [
        ("ADR-007: Time zones", "ADR-012: Message store"),
        ("Handbook, Chapter 3: Leave", "Handbook, Chapter 4: Leave"),
        ("Heron T4 manual", "Heron T5 manual"),
        ("Leave 2025", "Travel 2025"),
        ("Leave", "Leave"),
        ("2024", "2025"),
        ("8.4", "8.5"),
        ("Minutes 8.4", "Minutes 2025"),
        ("Ticket 20250101123", "Ticket 20260101123"),
    ],
)
def test_other_titles_are_of_no_family_in_common(titles: tuple[str, str]) -> None:
    one, other = map(edition_of, titles)
    assert one.family != other.family or one.family == ""


def test_a_title_without_number_or_date_is_no_edition() -> None:
    assert edition_of("Parental leave") == Edition()
    assert edition_of("Of the 31 February 2025 and later") == Edition()


@given(st.text(max_size=200))
def test_any_title_has_both_or_neither(title: str) -> None:
    told = edition_of(title)
    assert bool(told.family) is bool(told.order)


@pytest.mark.timeout(5)
@pytest.mark.parametrize("piece", ["1.", "2025 ", "v1", "jan ", " ", "version "])
def test_an_endless_title_is_no_endless_work(piece: str) -> None:
    edition_of(piece * 20_000)

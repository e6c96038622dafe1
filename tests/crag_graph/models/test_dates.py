from datetime import date

import pytest

from crag_graph.models.dates import calendar, dated, spelled_out

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("AI news from last month", "AI news from October 2026"),
        ("what happened yesterday", "what happened 29 November 2026"),
        ("budget of this quarter and the last quarter", "budget of Q4 2026 and Q3 2026"),
        ("revenue of the past year", "revenue of 2025"),
        ("releases in the last 3 months", "releases in August 2026 – November 2026"),
        ("what changed two weeks ago", "what changed November 2026"),
        ("Was war im letzten Monat neu?", "Was war Oktober 2026 neu?"),
        ("Qu'est-ce qui a changé le mois dernier ?", "Qu'est-ce qui a changé octobre 2026 ?"),
        ("¿Qué cambió el mes pasado?", "¿Qué cambió octubre 2026?"),
        ("O que mudou no mês passado?", "O que mudou outubro 2026?"),
        ("先月の売上は？", "2026年10月の売上は？"),
        ("the latest release", "the latest release"),
        ("nothing to name here", "nothing to name here"),
    ],
)
def test_relative_dates_are_named_in_the_language_of_the_text(said: str, named: str) -> None:
    assert spelled_out(said, TODAY) == named


def test_months_are_counted_over_the_turn_of_the_year() -> None:
    assert spelled_out("news from last month", date(2026, 1, 31)) == "news from December 2025"
    assert spelled_out("sales of last quarter", date(2026, 2, 1)) == "sales of Q4 2025"


@pytest.mark.parametrize(
    ("query", "asked", "named"),
    [
        ("latest GPU prices", "", "latest GPU prices November 2026"),
        ("latest GPU prices 2024", "", "latest GPU prices 2024"),
        ("key AI updates", "What were the key AI updates last month?", "key AI updates October 2026"),
        ("AI updates last month", "What were the AI updates last month?", "AI updates October 2026"),
        ("parental leave law", "What does the law say on parental leave?", "parental leave law"),
    ],
)
def test_a_query_for_something_new_carries_month_and_year(query: str, asked: str, named: str) -> None:
    assert dated(query, TODAY, asked=asked) == named


@pytest.mark.parametrize("said", ["999 years ago", "in the last 999 days", "0 days ago", "999 weeks ago"])
def test_far_dates_do_no_harm(said: str) -> None:
    assert spelled_out(said, date(1, 1, 1))


def test_the_calendar_tells_a_model_what_people_count_from_today() -> None:
    assert calendar(TODAY).startswith(
        "Today is Monday, 30 November 2026; yesterday was 29 November 2026; last month was"
    )

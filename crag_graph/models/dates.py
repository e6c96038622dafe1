"""Dates as people say them (`last month`, `yesterday`, `latest`), named so that a search engine understands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from crag_graph.models.languages import guess

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, kw_only=True)
class _Words:
    """How a language says dates that depend on today (patterns; `{unit}` and `{n}` are filled in) and writes them."""

    day: str
    month: str
    months: str
    quarter: str = "Q{quarter} {year}"
    units: Mapping[str, str]
    yesterday: str
    today: str
    last: str
    this: str
    ago: str
    past: str
    numbers: Mapping[str, int]
    fresh: str
    """Words that ask for what is new without saying since when."""
    edge: str = r"\b"


_WORDS = {
    "en": _Words(
        day="{day} {month} {year}",
        month="{month} {year}",
        months="January February March April May June July August September October November December",
        units={"day": "days?", "week": "weeks?", "month": "months?", "quarter": "quarters?", "year": "years?"},
        yesterday="yesterday",
        today="today|tonight|this (?:morning|afternoon|evening)",
        last="(?:the )?(?:last|previous|past) {unit}",
        this="(?:this|the current) {unit}",
        ago="{n} {unit} ago",
        past="(?:the )?(?:last|past|previous) {n} {unit}",
        numbers={"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "few": 3, "three": 3, "four": 4, "six": 6},
        fresh="latest|newest|most recent|recent|recently|up[- ]to[- ]date|currently|right now|nowadays|news",
    ),
    "de": _Words(
        day="{day}. {month} {year}",
        month="{month} {year}",
        months="Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        units={"day": "tag(?:en?)?", "week": "wochen?", "month": "monat(?:en?|s)?", "quarter": "quartals?"}
        | {"year": "jahr(?:e[sn]?)?"},
        yesterday="gestern",
        today="heute",
        last="(?:(?:im|am|in der|seit) )?(?:letzte|vorige|vergangene)[nmrs]? {unit}",
        this="diese[nmrs]? {unit}",
        ago="vor {n} {unit}",
        past="(?:letzten|vergangenen) {n} {unit}",
        numbers={"einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "sechs": 6},
        fresh="neueste[nrs]?|aktuelle?[nrs]?|derzeit|zurzeit|nachrichten|neuigkeiten",
    ),
    "fr": _Words(
        day="{day} {month} {year}",
        month="{month} {year}",
        months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        quarter="T{quarter} {year}",
        units={"day": "jours?", "week": "semaines?", "month": "mois", "quarter": "trimestres?", "year": "an(?:née)?s?"},
        yesterday="hier",
        today="aujourd['’]hui",
        last="(?:(?:du|le|la|au) |l['’])?{unit} (?:derni[eè]re?|passée?)",
        this="cett?e? {unit}(?:-ci)?",
        ago="il y a {n} {unit}",
        past="{n} derni(?:er|ère)s {unit}",
        numbers={"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "six": 6},
        fresh="derni(?:er|ère)s|récente?s?|récemment|actuelle?s?|actuellement|actualités|nouvelles",
    ),
    "es": _Words(
        day="{day} de {month} de {year}",
        month="{month} {year}",
        months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        quarter="T{quarter} {year}",
        units={"day": "días?", "week": "semanas?", "month": "mes(?:es)?", "quarter": "trimestres?", "year": "años?"},
        yesterday="ayer",
        today="hoy",
        last="(?:(?:del|el|la) )?(?:{unit} pasad[oa]|últim[oa] {unit})",
        this="est[ea] {unit}",
        ago="hace {n} {unit}",
        past="últim[oa]s {n} {unit}",
        numbers={"un": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "seis": 6},
        fresh="últim[oa]s|recientes?|recientemente|actual|actuales|actualmente|noticias|novedades",
    ),
    "pt": _Words(
        day="{day} de {month} de {year}",
        month="{month} {year}",
        months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        quarter="T{quarter} {year}",
        units={"day": "dias?", "week": "semanas?", "month": "m[êe]s(?:es)?", "quarter": "trimestres?", "year": "anos?"},
        yesterday="ontem",
        today="hoje",
        last="(?:(?:d?[oa]|n[oa]) )?(?:{unit} passad[oa]|últim[oa] {unit})",
        this="(?:n?est|ness|ess)[ea] {unit}",
        ago="há {n} {unit}",
        past="últim[oa]s {n} {unit}",
        numbers={"um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3, "quatro": 4, "seis": 6},
        fresh="últim[oa]s|recentes?|recentemente|atual|atuais|atualmente|notícias|novidades",
    ),
    "ja": _Words(
        day="{year}年{month}月{day}日",
        month="{year}年{month}月",
        months="1 2 3 4 5 6 7 8 9 10 11 12",
        quarter="{year}年第{quarter}四半期",
        units={"day": "日", "week": "週間?", "month": "[かヶケカ]?月", "quarter": "四半期", "year": "年"},
        yesterday="昨日",
        today="今日|本日",
        last="(?:先|前|昨|去){unit}",
        this="今{unit}",
        ago="{n}{unit}前",
        past="(?:過去|直近){n}{unit}間?",
        numbers={},
        fresh="最新|最近|ニュース",
        edge="",
    ),
}


def spelled_out(text: str, today: date) -> str:
    """The text with its relative dates named: `AI news from last month` → `AI news from October 2026`."""
    return _spell_out(text, today)[0]


def dated(query: str, today: date, *, asked: str = "") -> str:
    """The query with its dates named.

    Where it, or the question behind it (`asked`), is about what is new, and no year stands there, month and
    year are added.
    """
    query, _ = _spell_out(query, today)
    if _YEAR.search(query) or _YEAR.search(asked):
        return query
    if names := _spell_out(asked, today)[1]:
        return f"{query} {names[0]}"
    language = guess(asked or query)
    if _fresh(language).search(f"{query}\n{asked}"):
        return f"{query} {_written(_WORDS[language], 'month', today)}"
    return query


def calendar(today: date) -> str:
    """Today and the dates that people count from it, in English, for a prompt."""
    words = _WORDS["en"]
    named = [
        f"Today is {today:%A}, {_written(words, 'day', today)}",
        f"yesterday was {_written(words, 'day', _back(today, 'day', 1))}",
        f"last month was {_written(words, 'month', _back(today, 'month', 1))}",
        f"this quarter is {_written(words, 'quarter', today)}",
        f"last quarter was {_written(words, 'quarter', _back(today, 'quarter', 1))}",
        f"last year was {today.year - 1}",
    ]
    return "; ".join(named) + "."


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """A phrase, the unit it counts in, and how far back it points where the phrase has no number."""

    pattern: re.Pattern[str]
    unit: str
    back: int = 0
    stretch: bool = False
    """It means all the time from then to today."""


def _spell_out(text: str, today: date) -> tuple[str, list[str]]:
    """The text with its relative dates named, and the names."""
    language = guess(text)
    names: list[str] = []
    for rule in _rules(language):

        def name(match: re.Match[str], rule: _Rule = rule) -> str:
            names.append(_name(_WORDS[language], rule, match, today))
            return names[-1]

        text = rule.pattern.sub(name, text)
    return text, names


def _name(words: _Words, rule: _Rule, match: re.Match[str], today: date) -> str:
    counted = match.groupdict().get("n")
    back = rule.back if counted is None else int(words.numbers.get(counted.lower(), counted))
    then = _written(words, rule.unit, _back(today, rule.unit, back))
    return f"{then} – {_written(words, rule.unit, today)}" if rule.stretch else then


@cache
def _rules(language: str) -> tuple[_Rule, ...]:
    """The rules of a language; a phrase with a number before the same phrase without."""
    words = _WORDS[language]
    number = "(?P<n>" + "|".join([r"\d{1,3}", *words.numbers]) + ")"
    rules = []
    for unit, spelling in words.units.items():
        fill = {"unit": f"(?:{spelling})", "n": number}
        rules.append(_Rule(pattern=_compiled(words, words.past.format(**fill)), unit=unit, stretch=True))
        rules.append(_Rule(pattern=_compiled(words, words.ago.format(**fill)), unit=unit))
        if unit != "day":
            rules.append(_Rule(pattern=_compiled(words, words.last.format(**fill)), unit=unit, back=1))
            rules.append(_Rule(pattern=_compiled(words, words.this.format(**fill)), unit=unit))
    rules.append(_Rule(pattern=_compiled(words, words.yesterday), unit="day", back=1))
    rules.append(_Rule(pattern=_compiled(words, words.today), unit="day"))
    return tuple(rules)


@cache
def _fresh(language: str) -> re.Pattern[str]:
    return _compiled(_WORDS[language], _WORDS[language].fresh)


def _compiled(words: _Words, pattern: str) -> re.Pattern[str]:
    return re.compile(f"{words.edge}(?:{pattern}){words.edge}(?:['’]s\\b)?", re.IGNORECASE)


def _back(today: date, unit: str, count: int) -> date:
    """The day `count` units before today; in units from a month up, the first day of the month."""
    if unit in ("day", "week"):
        days = count if unit == "day" else 7 * count
        return today - timedelta(days=min(days, today.toordinal() - 1))
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(max(year, 1), month + 1, 1)


def _written(words: _Words, unit: str, day: date) -> str:
    """The date as exact as its unit; a week is written as its month, which is what pages carry."""
    if unit == "year":
        return str(day.year)
    form = {"day": words.day, "quarter": words.quarter}.get(unit, words.month)
    month = words.months.split()[day.month - 1]
    return form.format(day=day.day, month=month, year=day.year, quarter=(day.month + 2) // 3)

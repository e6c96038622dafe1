"""The page *Overview*: what the traces of a while add up to, each number a link to its traces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from markupsafe import Markup
from starlette.responses import Response

from bot.admin.charts import Point, grouped, stacked
from bot.admin.filters import FilterError, link
from bot.admin.picture import PLACES
from bot.admin.visit import Visit
from bot.prices import Price, cost
from bot.traces.figures import Figures, Tally, Times, figures

PERIODS = {"7": "day", "30": "day", "90": "week", "365": "month"}
"""Days that the page looks back, and what one bar stands for."""
USUAL = "30"
SLOTS = {"day": 1, "week": 7, "month": 31}
MOST_CHANNELS = 10
VERDICTS = ("correct", "ambiguous", "incorrect", "")


@dataclass(frozen=True, kw_only=True)
class Spent:
    """A model's work. `dollars`: None where its price is not known."""

    model: Tally
    dollars: float | None


async def show(visit: Visit) -> Response:
    days = visit.query("days") or USUAL
    if days not in PERIODS:
        raise FilterError(f"days is one of: {', '.join(PERIODS)}.")
    slot = PERIODS[days]
    since = _start(visit.desk.now() - timedelta(days=int(days) - 1), slot)
    found = await figures(visit.engine, team=visit.team, since=since, slot=slot)
    channels = found.channels[:MOST_CHANNELS]
    spent = _spent(found.models, visit.desk.prices)
    return visit.page(
        "overview.html",
        found=replace(found, steps=_in_order(found.steps)),
        days=days,
        periods=PERIODS,
        since=f"{since.date()}",
        slot=slot,
        per_slot=_per_slot(found, since, visit.desk.now(), slot),
        steps=_steps(_in_order(found.steps), since),
        channels=channels,
        names=await visit.names((), [one.key for one in channels]),
        spent=spent,
        dollars=_total(spent),
        helpful=_share(found.helpful, found.helpful + found.unhelpful),
    )


def _start(moment: datetime, slot: str) -> datetime:
    """The beginning of the day, week or month, so that the first bar is whole."""
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if slot == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if slot == "month" else day


def _per_slot(found: Figures, since: datetime, now: datetime, slot: str) -> Markup:
    starts = _starts(since.date(), now.date(), slot)
    counts = {(day, verdict): count for day, verdict, count in found.days}
    series = {
        verdict or "none": [_point(day, verdict, counts.get((day, verdict), 0), slot) for day in starts]
        for verdict in VERDICTS
    }
    labels = [day.strftime("%b %Y" if slot == "month" else "%d %b") for day in starts]
    return stacked(labels, series)


def _starts(first: date, last: date, slot: str) -> list[date]:
    starts = []
    while first <= last:
        starts.append(first)
        first = _next(first, slot)
    return starts


def _next(day: date, slot: str) -> date:
    return (day + timedelta(days=32)).replace(day=1) if slot == "month" else day + timedelta(days=SLOTS[slot])


def _point(day: date, verdict: str, count: int, slot: str) -> Point:
    last = _next(day, slot) - timedelta(days=1)
    wanted = {"since": f"{day}", "until": f"{last}", "verdict": verdict}
    return Point(value=count, link=link(wanted), label=f"{day:%d %b}: {count} {verdict or 'without a verdict'}")


def _in_order(steps: Sequence[Times]) -> list[Times]:
    """As the graph runs."""
    return sorted(steps, key=lambda step: list(PLACES).index(step.name) if step.name in PLACES else len(PLACES))


def _steps(steps: Sequence[Times], since: datetime) -> Markup:
    to = link({"since": f"{since.date()}", "slow": "1"})
    labels = [step.name for step in steps]
    series = {
        "half": [_time(step.name, "half of all within", step.median, to) for step in steps],
        "95 %": [_time(step.name, "95 of 100 within", step.p95, to) for step in steps],
    }
    return grouped(labels, series)


def _time(step: str, what: str, milliseconds: float, to: str) -> Point:
    return Point(value=round(milliseconds, 1), link=to, label=f"{step}: {what} {milliseconds:,.0f} ms")


def _spent(models: Sequence[Tally], prices: Mapping[str, Price]) -> list[Spent]:
    return [
        Spent(model=model, dollars=cost(prices, model.key, model.prompt_tokens, model.completion_tokens))
        for model in models
        if model.key
    ]


def _total(spent: Sequence[Spent]) -> float | None:
    known = [one.dollars for one in spent if one.dollars is not None]
    return sum(known) if len(known) == len(spent) else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

"""Charts as SVG in the page: drawn by pygal, coloured by the style sheet, without a script or style of their own."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any
from xml.etree import ElementTree as ET

import pygal
from markupsafe import Markup

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
UNWANTED = {f"{SVG}{name}" for name in ("defs", "script", "style", "title")}
WIDTH = 960

# pygal puts a finder for plug-ins with maps into Python's import system, of a kind that newer Pythons warn about.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != pygal.__name__]

ET.register_namespace("", "http://www.w3.org/2000/svg")


@dataclass(frozen=True, kw_only=True)
class Point:
    """`link`: where the number is explained."""

    value: float
    link: str
    label: str


def stacked(labels: Sequence[str], series: Mapping[str, Sequence[Point]]) -> Markup:
    """Bars over time, one colour a series."""
    every = max(1, len(labels) // 10)
    chart = pygal.StackedBar(**_options(), height=240, show_minor_x_labels=False, spacing=4)
    chart.x_labels = labels
    chart.x_labels_major = list(labels)[::every]
    chart.y_labels = _ticks(max((sum(column) for column in _columns(series)), default=0))
    return _drawn(chart, series)


def grouped(labels: Sequence[str], series: Mapping[str, Sequence[Point]]) -> Markup:
    """Bars from left to right, one group a label."""
    height = 60 + 34 * max(1, len(labels))
    chart = pygal.HorizontalBar(**_options(), height=height, spacing=6)
    chart.x_labels = list(labels)[::-1]
    return _drawn(chart, {name: list(points)[::-1] for name, points in series.items()})


def _columns(series: Mapping[str, Sequence[Point]]) -> Iterator[list[float]]:
    for column in zip(*series.values(), strict=True):
        yield [point.value for point in column]


def _ticks(highest: float) -> list[int]:
    """Whole numbers from 0 to the first one that is high enough, at most six: half a question is asked by nobody."""
    step = next(unit * 10**power for power in range(12) for unit in (1, 2, 5) if unit * 10**power * 5 >= highest)
    return list(range(0, max(step, ceil(highest / step) * step) + 1, step))


def _options() -> dict[str, Any]:
    return {
        "width": WIDTH,
        "js": [],
        "css": [],
        "title": None,
        "no_prefix": True,
        "show_legend": False,
        "margin": 8,
        "max_scale": 5,
        "min_scale": 2,
        "include_x_axis": True,
        "no_data_text": "",
        "disable_xml_declaration": True,
        "truncate_label": -1,
        "formatter": lambda value: f"{value:,.0f}",
        "tooltip_border_radius": 0,
    }


def _drawn(chart: Any, series: Mapping[str, Sequence[Point]]) -> Markup:
    for name, points in series.items():
        chart.add(name, [_value(point) for point in points])
    root = ET.fromstring(chart.render(is_unicode=True))  # noqa: S314 - pygal has just written it
    _strip(root)
    _name_links(root)
    root.set("class", "chart")
    root.set("role", "group")
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 - the serializer has escaped every text


def _value(point: Point) -> dict[str, Any] | None:
    if not point.value:
        return None
    return {"value": point.value, "label": point.label, "xlink": {"href": point.link, "target": "_self"}}


def _strip(root: ET.Element) -> None:
    """Takes out what the pages' Content-Security-Policy refuses, and what only pygal's own script would use."""
    root.attrib.pop("id", None)
    for parent in list(root.iter()):
        parent.attrib.pop("style", None)
        for child in list(parent):
            if child.tag in UNWANTED or "overlay" in child.get("class", ""):
                parent.remove(child)


def _name_links(root: ET.Element) -> None:
    """What a link in the drawing leads to: for those who cannot see it, and as a tooltip."""
    for link in root.iter(f"{SVG}a"):
        link.set("href", link.attrib.pop(XLINK))
        label = link.findtext(f"{SVG}desc[@class='label']", "")
        for told in link.findall(f"{SVG}desc"):
            link.remove(told)
        ET.SubElement(link, f"{SVG}title").text = label

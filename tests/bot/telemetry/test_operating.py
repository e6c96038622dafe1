"""The dashboard and the alerts name numbers that exist."""

import json
import re

from bot.telemetry.metrics import REGISTRY
from tests.architecture.source import ROOT

OPERATING = ROOT / "docs" / "operating"
NUMBER = re.compile(r"\bcrag_[a-z_]+")


def known() -> set[str]:
    names: set[str] = set()
    for metric in REGISTRY.collect():
        suffixes = {"counter": ["_total"], "histogram": ["", "_bucket", "_sum", "_count"]}.get(metric.type, [""])
        names |= {f"{metric.name}{suffix}" for suffix in suffixes}
    return names


def test_the_dashboard_draws_every_number_and_no_other() -> None:
    dashboard = json.loads((OPERATING / "grafana.json").read_text("utf-8"))
    drawn = {name for panel in dashboard["panels"] for one in panel["targets"] for name in NUMBER.findall(one["expr"])}
    assert drawn <= known()
    assert {metric.name for metric in REGISTRY.collect()} == {re.sub("_(total|bucket)$", "", name) for name in drawn}


def test_the_alerts_and_the_table_name_numbers_that_exist() -> None:
    told = set(NUMBER.findall((OPERATING / "README.md").read_text("utf-8")))
    assert told <= known()

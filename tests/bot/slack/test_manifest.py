"""The manifest that is pasted at Slack."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.slack.start import NICETIES, SCOPES
from bot.slack.views import about, keeping
from bot.slack.views.about import ABOUT
from bot.slack.views.keeping import KEEP

MANIFEST = Path(__file__).parents[3] / "slack_manifest.yml"


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    return read


def test_every_scope_that_is_needed_is_asked_for(manifest: dict[str, Any]) -> None:
    scopes = manifest["oauth_config"]["scopes"]
    assert set(scopes["bot"]) >= SCOPES
    assert set(scopes["bot"]) | set(scopes["bot_optional"]) >= NICETIES


def test_every_command_escapes_what_it_is_given(manifest: dict[str, Any]) -> None:
    commands = {one["command"]: one for one in manifest["features"]["slash_commands"]}
    assert set(commands) == {"/crag-ask", "/crag-ingest", "/crag-forget", "/crag-settings", "/crag-traces"}
    assert all(one["should_escape"] for one in commands.values())


def test_every_shortcut_is_one_that_is_listened_to(manifest: dict[str, Any]) -> None:
    shortcuts = {one["callback_id"]: one for one in manifest["features"]["shortcuts"]}
    assert {key: one["name"] for key, one in shortcuts.items()} == {
        KEEP: keeping.TITLE.english,
        ABOUT: about.TITLE.english,
    }
    for one in shortcuts.values():
        assert one["type"] == "message"
        assert len(one["name"]) <= 24
        assert len(one["description"]) <= 150


def test_it_keeps_to_slacks_lengths(manifest: dict[str, Any]) -> None:
    about = manifest["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert 175 <= len(about["long_description"]) <= 4_000
    for one in manifest["features"]["slash_commands"]:
        assert len(one["command"]) <= 32
        assert len(one["description"]) <= 2_000
        assert len(one.get("usage_hint", "")) <= 1_000
    assert len(manifest["features"]["agent_view"]["suggested_prompts"]) <= 4


def test_it_hears_what_it_has_to(manifest: dict[str, Any]) -> None:
    events = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    assert events >= {"app_mention", "message.im", "message.channels", "message.groups", "app_home_opened"}
    assert events >= {"agent_session_stopped", "member_left_channel", "channel_rename", "app_uninstalled"}
    assert manifest["settings"]["socket_mode_enabled"]

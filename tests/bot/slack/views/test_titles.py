"""Labels fit where they stand in every language: Slack refuses a title that is too long, and cuts a button."""

import pytest

from bot.slack import words
from bot.slack.views import about, attached, experts, home, keeping, offers, reason, relay, settings, storing
from crag_graph.phrases import LANGUAGES, Phrase, speaking

TITLES = [
    words.HOW,
    about.TITLE,
    keeping.TITLE,
    offers.KEEP_LABEL,
    reason.TITLE,
    settings.TITLE,
    settings.CHOICE,
    relay.STORE_LABEL,
]
BUTTONS = [
    *offers.LABELS.values(),
    *(words.HOW, words.CANCEL, words.CLOSE),
    *(offers.STOP_LABEL, offers.HELPFUL_LABEL, offers.UNHELPFUL_LABEL, offers.KEEP_LABEL),
    *(experts.RIGHT_LABEL, experts.REMOVE_LABEL, relay.STORE_LABEL),
    *(home.SETTINGS_LABEL, home.FORGET_LABEL, home.KEEP),
    *(about.SUBMIT, attached.SUBMIT, keeping.SUBMIT, settings.SUBMIT, settings.SHOW, storing.SUBMIT),
]
ALOUD = [
    *((offers.LABELS[offer], aloud) for offer, aloud in offers.ALOUD.items()),
    (offers.HELPFUL_LABEL, offers.HELPFUL_ALOUD),
    (offers.UNHELPFUL_LABEL, offers.UNHELPFUL_ALOUD),
    (experts.RIGHT_LABEL, experts.RIGHT_ALOUD),
    (experts.REMOVE_LABEL, experts.REMOVE_ALOUD),
]
OPTIONS = [
    *settings.MANNERS.values(),
    *settings.WEB.values(),
    *settings.INGEST.values(),
    *settings.CHANGERS.values(),
    *settings.SWITCHES.values(),
    *(keeping.WHOLE_MESSAGE, keeping.WHOLE_THREAD, keeping.THOSE_HERE, words.EVERYBODY),
]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("phrases", "longest"), [(TITLES, 24), (BUTTONS, 40), (OPTIONS, 75)])
def test_labels_fit(language: str, phrases: list[Phrase], longest: int) -> None:
    with speaking(language):
        assert [said for phrase in phrases if len(said := phrase()) > longest] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_screen_reader_says_begins_with_the_label(language: str) -> None:
    with speaking(language):
        pairs = [(label(), aloud()) for label, aloud in ALOUD]
    assert [pair for pair in pairs if not pair[1].startswith(pair[0]) or len(pair[1]) > 75] == []

"""The buttons under an answer: which ones can do something for it, and how they look; pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.questions import Answered
from bot.slack import words
from crag_graph.domain import Abstention, Kind, Verdict
from crag_graph.phrases import Phrase

Block = dict[str, Any]

FEEDBACK = "feedback"
HOW = "how_i_got_here"
STOP = "stop"
EDITED = "answer_the_edited_question"
KEEP = "keep_in_the_library"
HELPFUL, UNHELPFUL = "helpful", "unhelpful"


class Offer(StrEnum):
    """What a button does with its answer; the word is its action id."""

    WEB_TOO = "search_the_web_too"
    LIBRARY_ALONE = "only_our_documents"
    AGAIN = "ask_again"
    SHARE = "share_in_channel"
    PERSON = "ask_a_person"
    TELL = "tell_me_when_you_know"


LABELS = {
    Offer.WEB_TOO: Phrase("Search the web too"),
    Offer.LIBRARY_ALONE: Phrase("Only our documents"),
    Offer.AGAIN: Phrase("Ask again"),
    Offer.SHARE: Phrase("Share in channel"),
    Offer.PERSON: Phrase("Ask a person"),
    Offer.TELL: Phrase("Tell me when you know"),
}


ALOUD = {
    Offer.LIBRARY_ALONE: Phrase("Only our documents: answer again without the web"),
    Offer.AGAIN: Phrase("Ask again: have the question answered once more"),
}
"""What a screen reader says where the label alone does not tell what happens."""
STOP_LABEL = Phrase("Stop")
HELPFUL_LABEL = Phrase("Helpful")
UNHELPFUL_LABEL = Phrase("Not helpful")
KEEP_LABEL = Phrase("Keep in the library")
STOP_ALOUD = Phrase("Stop working on the answer")
HELPFUL_ALOUD = Phrase("Helpful: the answer helped me")
UNHELPFUL_ALOUD = Phrase("Not helpful: the answer did not help me")


@dataclass(frozen=True, kw_only=True)
class Possible:
    """What the place of an answer allows."""

    web: bool = False
    """Web search is set up, and the place does not forbid it."""
    sharing: bool = False
    """The answer is for its asker alone, in a place where others are."""
    people: bool = False
    """Somebody may be called where there is no answer."""
    telling: bool = True
    """The asker can be told later, in direct messages."""
    keeping: str = ""
    """The conversation whose files can be kept in the library."""


def offers(answered: Answered, possible: Possible) -> tuple[Offer, ...]:
    """The buttons that can do something: none of them would only say why it does not."""
    answer, web_asked = answered.answer, bool(answered.web_query)
    wanted = {
        Offer.WEB_TOO: possible.web and not web_reached(answered),
        # Under an incorrect verdict the library alone has nothing to say.
        Offer.LIBRARY_ALONE: web_asked and answer.verdict is not Verdict.INCORRECT and not answer.abstained,
        Offer.AGAIN: answer.abstention is not Abstention.NOT_VISIBLE_HERE,
        Offer.SHARE: possible.sharing and not answer.abstained,
        Offer.PERSON: possible.people and answer.abstained,
        Offer.TELL: possible.telling and answer.abstained and answer.abstention is not Abstention.NOT_VISIBLE_HERE,
    }
    return tuple(offer for offer in Offer if wanted[offer])


def web_reached(answered: Answered) -> bool:
    """The web was asked, and it answered."""
    cited = any(citation.kind is Kind.WEB for citation in answered.answer.citations)
    return cited or (bool(answered.web_query) and not any(fault.where == "search_web" for fault in answered.faults))


def buttons(trace_id: str, offered: Iterable[Offer] = (), *, keeping: str = "") -> tuple[Block, Block]:
    """How the answer came about, what else can be done, and whether it helped."""
    feedback = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": _vote(HELPFUL_LABEL(), HELPFUL_ALOUD(), f"{HELPFUL}:{trace_id}"),
        "negative_button": _vote(UNHELPFUL_LABEL(), UNHELPFUL_ALOUD(), f"{UNHELPFUL}:{trace_id}"),
    }
    kept = [keep_button(keeping)] if keeping else []
    pressed = [button(HOW, words.HOW(), trace_id), *_offered(trace_id, offered), *kept]
    return {"type": "actions", "elements": pressed}, {"type": "context_actions", "elements": [feedback]}


def button(action: str, label: str, value: str, *, aloud: str = "") -> Block:
    """`aloud`: what a screen reader says of it, where that is more; it begins with the label. At most 75 characters."""
    spoken = {"accessibility_label": aloud} if aloud else {}
    return {"type": "button", "action_id": action, "text": _text(label), "value": value, **spoken}


def keep_button(conversation: str) -> Block:
    """Under an answer from files that came with a question."""
    return button(KEEP, KEEP_LABEL(), conversation)


def _offered(trace_id: str, offered: Iterable[Offer]) -> Iterator[Block]:
    for offer in offered:
        aloud = ALOUD[offer]() if offer in ALOUD else ""
        yield button(offer.value, LABELS[offer](), trace_id, aloud=aloud)


def _vote(label: str, aloud: str, value: str) -> Block:
    return {"text": _text(label), "accessibility_label": aloud, "value": value}


def _text(said: str) -> dict[str, str]:
    return {"type": "plain_text", "text": said}

"""Follow-up questions that stand alone, by rules: what they leave unsaid is taken from the conversation."""

import re

from crag_graph.domain import Conversation, Turn
from crag_graph.models.languages import guess
from crag_graph.models.queries import cut
from crag_graph.models.topics import WORD, content_words, names, phrase


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEAD = 80
"""Characters of a topic in front of a question; the evaluator takes a longer one for a sentence of its own."""
_SHORT = 5
"""Content words that a question which leans on the one before has at most, unless it points back."""
_LONG = 1_000
"""Characters beyond which a question says enough by itself; as much is read of an earlier question or its answer."""
_ANSWER_NAMES = 2
_NO_NAMES = _words("yes no eur usd gbp chf")

_OPENERS = _words(
    "ok okay thanks thank you great cool nice good right alright well hm hmm ah oh so yes yeah no please danke merci gracias obrigado "
    "obrigada"
)
"""Chatter before a question."""
_JOINING = _words("and or but plus then also und oder aber dann et ou mais alors y o pero entonces e mas então")
_ABOUT = re.compile(
    r"(?:what|how) about|what of|same for|(?:und )?was ist mit|wie (?:ist|sieht) es (?:mit|bei)|"
    r"qu['’]en est-il (?:de|du|pour)|qué (?:hay de|pasa con|tal)|e quanto a[os]?",
    re.IGNORECASE,
)
_POINTERS = _words(
    "it its they them their theirs he him his she her hers those these ones "
    "er ihn ihm davon dafür dazu damit darüber dort diese dieser dieses diesen diesem "
    "elle elles celui celle ceux cela ça ello eso esa ese ella ellos ellas isso isto ele ela eles elas dele dela deles delas"
)
"""Words that stand for something said before."""
_THIS = _words("this that")
_TIMES = _words("year month week quarter morning afternoon evening time")
_SAID_THAT = _words(
    "true sure so know think say said says mean means hear heard read guess believe hope fact case ensure show"
)
"""Before `that` they begin a clause: `is it true that …`."""
_EMPTY = re.compile(
    r"\b(?:is|was|isn['’]t|would|will|be) it (?:\w+ly )?\w+ (?:to|that|for|if|when)\b"
    r"|\bdoes it (?:take|cost|matter|help|hurt|mean|make sense)\b(?= .*\b(?:to|if|when) \w+ \w+)",
    re.IGNORECASE,
)
"""An `it` that stands for nothing: `is it possible to …`, `does it take to get a badge`, but not `… to arrive`."""
_POINTING_PHRASE = re.compile(
    r"\bthe (?:same|former|latter|others?|rest)\b|\b(?:the|this|that|which|another|any) (?:\w+ )?ones?\b|(?<!\d )\bone\W*$|\bin that case\b|\binstead\b(?! of)",
    re.IGNORECASE,
)
_JAPANESE_POINTER = re.compile(r"それ|その|これ|この|^(?:では|じゃあ)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = _words(
    "if when because before after once while until and or wenn falls weil bevor si quand cuando se quando y e et und"
)
"""What comes before one of these can be what a pointer behind it stands for: `reset a password if I forgot it`."""
_COMPARATIVE = re.compile(
    r"\b(?:more|less|fewer|worse|better|(?:slow|fast|cheap|long|short|big|larg|small|high|low|earli|lat|old|new|heavi|light|quick|easi|hard)er)\b",
    re.IGNORECASE,
)
_COMPARES_WITH = _words("than or between vs versus")
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|former|latter)(?: (?:one|option|item|point))?(?=\W*$|\W*\b(?:is|are|was|does|do|has|have|cost|and)\b)",
    re.IGNORECASE,
)
_PLACES = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(\S.*)$", re.MULTILINE)
_LISTED = re.compile(r",\s+(?:and |or )?|\s+(?:and|or|und|oder|et|ou|y|o)\s+")
_MARK = re.compile(r"\s*\[\d+\]")
_PREPOSITION = r"for|in|on|at|with|from|by|during|under|für|im|bei|mit|ab|pour|à|dans|para|em|com|con"
_WITH_PREPOSITION = re.compile(rf"(?P<preposition>{_PREPOSITION})\s+(?P<rest>.+)", re.IGNORECASE)
_ADJECTIVE_ONE = re.compile(r"(?:the|an?|any) (\w+(?:ly|al|ed|ic|ary)) ones?", re.IGNORECASE)
_ASKING = _words(
    "what which who whom whose when where why how is are was were do does did can could may must should will would has have tell "
    "explain show list give describe need "
    "welche welcher welches wer wem wen wann wo warum wie ist sind kann darf muss gibt hat "
    "quel quelle quels quelles qui quand où pourquoi comment combien est sont peut "
    "qué cuál cuáles quién cuándo dónde cómo cuánto cuánta cuántos cuántas son puede tiene "
    "qual quais quem quando onde quanto quanta quantos quantas são pode tem"
)


def standalone(question: str, conversation: Conversation) -> str:
    """The question as it reads without its conversation; unchanged where it does not lean on it."""
    before = _topic(conversation)
    asked = " ".join(question.split())
    if before is None or len(asked) > _LONG or not leans_back(asked):
        return question
    asked = _with_listed_item(asked, before["answer"])
    rest = _without_opening(asked)
    return _in_the_same_words(rest, before["standalone"]) or _with_lead(rest, before)


def leans_back(question: str) -> bool:
    """The question cannot be understood without what was said before it."""
    rest = _without_opening(question)
    content = content_words(rest)
    short = len(content) <= _SHORT
    return (
        not content
        or _ABOUT.search(question[: len(question) - len(rest)]) is not None
        or (_joins(question) and _goes_on(_SENTENCE_END.split(rest)[0]))
        or _points_outside(rest)
        or (short and _compares_with_nothing(rest))
        or (len(content) == 1 and not _asks(rest) and not names(rest))
    )


def _goes_on(sentence: str) -> bool:
    """Behind `and`, a short sentence without a question or a name of its own goes on with the question before."""
    return len(content_words(sentence)) <= _SHORT and (not _asks(sentence) or not names(sentence))


def _asks(text: str) -> bool:
    """The text begins as a question does."""
    return any(word.casefold() in _ASKING for word in WORD.findall(text)[:2])


def _topic(conversation: Conversation) -> Turn | None:
    """The last turn that was about something, else what people said last; None where nothing was said."""
    said = [message.partition(": ")[2] or message for message in conversation.chatter]
    spoken = [Turn(question=text, standalone=text, answer="", sources=[]) for text in said]
    for turn in (*reversed(conversation.turns), *reversed(spoken)):
        question, answer = cut(turn["standalone"], _LONG), cut(turn["answer"], _LONG)
        if content_words(question):
            return {**turn, "standalone": question, "answer": answer}
    return None


def _opening(question: str) -> list[re.Match[str]]:
    """The words of chatter and joining that the question begins with."""
    opening: list[re.Match[str]] = []
    for word in WORD.finditer(question):
        if word[0].casefold() not in _OPENERS | _JOINING:
            break
        opening.append(word)
    return opening


def _joins(question: str) -> bool:
    return any(word[0].casefold() in _JOINING for word in _opening(question))


def _without_opening(question: str) -> str:
    """The question without `ok, and what about`; as it is where nothing else would be left."""
    opening = _opening(question)
    rest = question[opening[-1].end() :].lstrip(" ,.!:;…–-") if opening else question
    if about := _ABOUT.match(rest):
        rest = rest[about.end() :].lstrip()
    return rest if WORD.search(rest) else question


def _points_outside(text: str) -> bool:
    """A word points back, and what it points at is not in the question itself."""
    if _JAPANESE_POINTER.search(text) or _POINTING_PHRASE.search(text) or _ORDINAL.search(text):
        return True
    explained = False
    for sentence in _SENTENCE_END.split(text):
        words = [word.casefold() for word in WORD.findall(_EMPTY.sub(" ", sentence))]
        if any(_points(words, place) and not (explained or _explained(words[:place])) for place in range(len(words))):
            return True
        explained = explained or len(content_words(sentence)) > 1
    return False


def _points(words: list[str], place: int) -> bool:
    word, before, after = words[place], words[place - 1 : place], words[place + 1 : place + 2]
    if word in _THIS:
        return not (set(after) & _TIMES or set(before) & _SAID_THAT or _relative(words, place))
    if word == "there":
        return not set(before + after) & _words("is are was were isn't aren't will be")
    return word in _POINTERS


def _relative(words: list[str], place: int) -> bool:
    """`that` behind a noun begins a clause about it: `the form that I need`."""
    return words[place] == "that" and place > 0 and bool(content_words(words[place - 1])) and place + 1 < len(words)


def _explained(before: list[str]) -> bool:
    """What comes before can be what is pointed at: it has a topic, and a new clause has begun since."""
    for place in range(len(before) - 1, 0, -1):
        if before[place] in _CLAUSE:
            return bool(content_words(" ".join(before[:place])))
    return False


def _compares_with_nothing(text: str) -> bool:
    return _COMPARATIVE.search(text) is not None and not _COMPARES_WITH & set(text.casefold().split())


def _with_listed_item(asked: str, answer: str) -> str:
    """`the second one` as what the answer listed second."""
    ordinal = _ORDINAL.search(asked)
    items = _listed(answer) if ordinal else []
    if ordinal is None or len(items) < 2:  # noqa: PLR2004 - one is no list
        return asked
    place = _PLACES[ordinal[1].lower()]
    if place >= len(items):
        return asked
    return f"{asked[: ordinal.start()]}{items[place]}{asked[ordinal.end() :]}"


def _listed(answer: str) -> list[str]:
    """The things that an answer lists: its list items, or what it joins with commas and `and` in one sentence."""
    plain = _MARK.sub("", answer)
    items = _LIST_ITEM.findall(plain)
    if not items:
        items = _LISTED.split(plain.rpartition(": ")[2])
    return [phrase(item, 60) or item for item in items]


def _in_the_same_words(rest: str, before: str) -> str | None:
    """The question before with what the fragment changes in it: `warranty on a Heron?`, `and the Otter?`."""
    fragment = rest.rstrip(" ?!.")
    base = before.rstrip(" ?!.")
    asks = any(word.casefold() in _ASKING for word in WORD.findall(rest))
    if asks or len(content_words(fragment)) > 3 or " " not in base:  # noqa: PLR2004 - more is a question of its own
        return None
    changed = _same_shape(fragment, base) or _same_ending(fragment, base) or _same_place(fragment, base)
    return f"{changed}?" if changed else None


def _same_shape(fragment: str, base: str) -> str | None:
    """`sev2` for `SEV1`, `8.5` for `8.4`: one code for another."""
    shapes = {_shape(word): word for word in WORD.findall(base) if any(map(str.isdigit, word))}
    for word in WORD.findall(fragment):
        if (old := shapes.get(_shape(word))) and old.casefold() != word.casefold():
            return re.sub(rf"\b{re.escape(old)}\b", word, base)
    return None


def _shape(word: str) -> str:
    return re.sub(r"\d+", "0", word.casefold())


def _same_ending(fragment: str, base: str) -> str | None:
    """`the monthly ones` after `the nightly backups`."""
    one = _ADJECTIVE_ONE.fullmatch(fragment)
    for word in WORD.findall(base) if one else ():
        if one and word.casefold()[-2:] == one[1].casefold()[-2:] and word.casefold() != one[1].casefold():
            return base.replace(word, one[1])
    return None


def _same_place(fragment: str, base: str) -> str | None:
    """What stands behind the same preposition gives way; a preposition that is new is added; a name replaces a name."""
    own = _WITH_PREPOSITION.fullmatch(fragment)
    last = list(re.finditer(rf"\b(?:{_PREPOSITION})\s+", base, re.IGNORECASE))
    if own:
        same = [match for match in last if match[0].strip().casefold() == own["preposition"].casefold()]
        return f"{base[: same[-1].start()]}{fragment}" if same else f"{base} {fragment}"
    if last and names(base[last[-1].end() :]) and len(content_words(fragment)) <= 2:  # noqa: PLR2004 - a name
        return f"{base[: last[-1].end()]}{fragment}"
    return None


def _with_lead(rest: str, before: Turn) -> str:
    """The topic in front of the question: `warranty Heron T4: is it longer in Velland?`."""
    lead, _, last = before["standalone"].rpartition(": ")
    if guess(last) == "ja":
        return f"{cut(last.rstrip('？?。 '), _LEAD)}: {rest}"
    said = WORD.findall(rest)
    topic = phrase(" ".join([*_named_in_answer(rest, before), last, lead]), _LEAD, without=said, unique=True)
    return f"{topic}: {rest}" if topic else rest


def _named_in_answer(rest: str, before: Turn) -> list[str]:
    """Names in the first sentence of a short answer: `who sends our mail?`, `Larkpost.`, `what do they charge?`."""
    if not _points_outside(rest):
        return []
    first = re.split(r"(?<=[.!?])\s", _MARK.sub("", before["answer"]), maxsplit=1)[0]
    known = {word.casefold() for word in WORD.findall(before["standalone"] + " " + rest)}
    return [name for name in names(first) if name.casefold() not in known | _NO_NAMES][:_ANSWER_NAMES]

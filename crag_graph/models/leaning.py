"""Does a question lean on what was said before it? By its small words."""

import re

from crag_graph.models.topics import WORD, content_words, names


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHORT = 5
"""Content words that a question which leans on the one before has at most, unless it points back."""

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
ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|former|latter)(?: (?:one|option|item|point))?(?=\W*$|\W*\b(?:is|are|was|does|do|has|have|cost|and)\b)",
    re.IGNORECASE,
)
ASKING = _words(
    "what which who whom whose when where why how is are was were do does did can could may must should will would has have tell "
    "explain show list give describe need "
    "welche welcher welches wer wem wen wann wo warum wie ist sind kann darf muss gibt hat "
    "quel quelle quels quelles qui quand où pourquoi comment combien est sont peut "
    "qué cuál cuáles quién cuándo dónde cómo cuánto cuánta cuántos cuántas son puede tiene "
    "qual quais quem quando onde quanto quanta quantos quantas são pode tem"
)
"""Words with which a question asks."""


def leans_back(question: str) -> bool:
    """The question cannot be understood without what was said before it."""
    rest = without_opening(question)
    content = content_words(rest)
    short = len(content) <= _SHORT
    return (
        not content
        or _ABOUT.search(question[: len(question) - len(rest)]) is not None
        or (_joins(question) and _goes_on(_SENTENCE_END.split(rest)[0]))
        or points_outside(rest)
        or (short and _compares_with_nothing(rest))
        or (len(content) == 1 and not asks(rest) and not names(rest))
    )


def _goes_on(sentence: str) -> bool:
    """Behind `and`, a short sentence without a question or a name of its own goes on with the question before."""
    return len(content_words(sentence)) <= _SHORT and (not asks(sentence) or not names(sentence))


def asks(text: str) -> bool:
    """The text begins as a question does."""
    return any(word.casefold() in ASKING for word in WORD.findall(text)[:2])


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


def without_opening(question: str) -> str:
    """The question without `ok, and what about`; as it is where nothing else would be left."""
    opening = _opening(question)
    rest = question[opening[-1].end() :].lstrip(" ,.!:;…–-") if opening else question
    if about := _ABOUT.match(rest):
        rest = rest[about.end() :].lstrip()
    return rest if WORD.search(rest) else question


def points_outside(text: str) -> bool:
    """A word points back, and what it points at is not in the question itself."""
    if _JAPANESE_POINTER.search(text) or _POINTING_PHRASE.search(text) or ORDINAL.search(text):
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

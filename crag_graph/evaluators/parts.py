"""The parts of a question: each thing that it asks, by rules, as texts that read on their own."""

import re

from crag_graph.evaluators.words import content_words, names, stem, words

MOST = 4
"""Parts looked at; more are joined to the last."""
LONGEST = 4_000
"""Characters of a question that are looked at."""
LONGEST_TERM = 3
"""Words of a term."""
SHORTEST = 4
"""Words of a question that asks something though none of them carries content: `how long will it take`."""
FEW = 2
"""Content words of a first part that still needs the name that only the second has: `phone number and …`."""
LONGEST_LEAD = 80
"""Characters of a lead (`Offsite: …`); a longer one is a sentence."""

_ASKING = (
    "how|what|whats|what's|which|who|whos|who's|whose|whom|when|where|why|is|are|was|were|do|does|did|can|could|may|must|"
    "should|will|would|has|have|"
    "wie|was|welche[rsnm]?|wer|wem|wen|wann|wo|wohin|warum|woran|womit|wofür|ist|sind|kann|darf|muss|wird|hat|"
    "combien|quel(?:le)?s?|qui|quand|où|pourquoi|comment|est-ce|"
    "cuánt[oa]s?|qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|cómo|"
    "quant[oa]s?|qual|quais|quem|quando|onde|como|que|o que"
)
_PREPOSITION = (
    "in|on|at|to|by|for|from|with|until|till|up to|after|within|under|above|below|through|about|form|"
    "bis|ab|auf|nach|für|à|de|dans|por|hasta|até|em|a partir de"
)
_QUESTION = rf"(?:(?:{_PREPOSITION})\s+)?(?:{_ASKING})\b"
_JOIN = r"(?:and|or|und|oder|et|ou|y|o|e|plus|\+|&|also|but|then|so|adn|nad)"
_QUESTION_START = re.compile(rf"(?:{_JOIN}\s+|ok\s+)*{_QUESTION}", re.IGNORECASE)
_BEFORE_QUESTION = re.compile(
    rf"(?P<soft>\s*,\s*)(?={_QUESTION})|(?:\s*[,;/?]\s*|\s+)(?:{_JOIN}\s+)+(?={_QUESTION})|\s*[;/+]\s*(?={_QUESTION})",
    re.IGNORECASE,
)
_SEMICOLON = re.compile(r"\s*;\s+|\s+\+\s+|\s+plus\s+")
_CONJUNCTION = re.compile(r"\s*,?\s+(?:and|und|et|y|e|&|adn)\s+")
_SENTENCE = re.compile(r"(?<=[?!.])\s+(?=\S)")
_RELATIVE = re.compile(r"\b(?:that|whose|if|because|between|both)\b", re.IGNORECASE)
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|compared? (?:with|to|against)|in comparison (?:with|to))\s+", re.IGNORECASE)
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<lead>.*?\bdifferences? (?:in .+ )?between)\s+(?P<one>.+?)\s+and\s+(?P<other>.+)$",
        r"^(?P<one>.+?\b(?:more|less|fewer|rather|other|worse|better|\w{2,}er)\b.*?)\s+than\s+(?P<other>.+)$",
        r"^(?P<one>.+?)\s+(?:compares?|compared)\s+(?:with|to|against)\s+(?P<other>.+)$",
        r"^(?P<one>.+?\bthe same\b.*?)\s+as\s+(?P<other>.+)$",
        r"^(?P<one>.+?\bas \w+\b.*?)\s+as\s+(?P<other>.+)$",
    )
)
_WORDS = r"(?P<term>[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,2}?)"
_TERM = re.compile(
    rf"^(?:(?:what|who) (?:is|are|was|were)|what's|define|explain|how (?:does|do))\s+(?:an?\s+)?{_WORDS}"
    r"(?:\s+(?:in|of|for|on|at|with)\s.*)?$",
    re.IGNORECASE,
)
_BARE_TERM = re.compile(rf"^(?:an?\s+)?{_WORDS}$", re.IGNORECASE)
_EITHER = re.compile(r"^(?P<lead>.+?)[,:]\s*(?P<one>[^,?]+?)\s+or\s+(?P<other>[^,?]+)$", re.IGNORECASE)


def parts(question: str) -> tuple[str, ...]:
    """The things that the question asks, in its order, at most four; a plain question is its only part."""
    text = " ".join(question[:LONGEST].split())
    scene, asking = _scene(text)
    pieces = [piece for sentence in asking for piece in _pieces(sentence)]
    if len(pieces) == 1:
        return (text,)
    pieces = [*pieces[: MOST - 1], " ".join(pieces[MOST - 1 :])] if len(pieces) > MOST else pieces
    return tuple(_standing_alone(number, pieces, scene) for number in range(len(pieces)))


def term(part: str, *, compared: bool) -> tuple[str, ...]:
    """The stems of the term that a part asks to be explained, or that stands bare as one side of a comparison.

    Empty for all other questions. `What is the price of …` asks for a value, not for what a term means.
    """
    bare = part.strip(" ?!.")
    match = _TERM.match(bare) or (_BARE_TERM.match(bare) if compared else None)
    found = words(match["term"]) if match else []
    if not found or len(found) > LONGEST_TERM or len(content_words(" ".join(found))) < len(found):
        return ()
    return tuple(stem(word) for word in found)


def _scene(text: str) -> tuple[str, list[str]]:
    """Statements that only set the scene, and the sentences that ask."""
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if content_words(sentence)]
    asking = [sentence for sentence in sentences if sentence.endswith("?") or _QUESTION_START.match(sentence)]
    if not asking:
        return "", [text]
    return " ".join(sentence for sentence in sentences if sentence not in asking), asking


def _pieces(sentence: str, *, led: bool = False) -> list[str]:
    """What one sentence asks; a lead (`Offsite: …`, `At Fernrest, …`) goes before each piece."""
    sentence = sentence.strip(" ?!.")
    lead, colon, rest = sentence.partition(": ")
    if colon and not led and len(lead) < LONGEST_LEAD and len(below := _pieces(rest, led=True)) > 1:
        return [f"{lead}: {piece}" for piece in below]
    soft = _BEFORE_QUESTION.search(sentence)
    if soft and soft["soft"] and not led and not _QUESTION_START.match(sentence):
        lead, rest = sentence[: soft.start()], sentence[soft.end() :]
        below = _pieces(rest, led=True)
        return [f"{lead}, {piece}" for piece in below] if len(below) > 1 else [sentence]
    questions = _split(sentence, _BEFORE_QUESTION, 1)
    if len(questions) > 1:
        return [piece for question in questions for piece in (_compared(question) or [question])]
    return _compared(sentence) or _listed(sentence)


def _listed(sentence: str) -> list[str]:
    """Things asked for in one breath: `hotel limit in Sorrenta and daily allowance in Pellonia`."""
    pieces = _split(sentence, _SEMICOLON, 1)
    if len(pieces) > 1 or _RELATIVE.search(sentence):
        return pieces
    return _split(sentence, _CONJUNCTION, 2)


def _split(sentence: str, separator: re.Pattern[str], fewest: int) -> list[str]:
    """Splits where every piece has something of its own to ask about: `fewest` content words, or a name.

    With `fewest` 1 the separator stands before a question word, so that four words are enough.
    """
    cuts = [0, *(edge for match in separator.finditer(sentence) for edge in match.span()), len(sentence)]
    pieces = [sentence[start:end].strip(" ,;?") for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    return pieces if all(_asks(piece, fewest) for piece in pieces) else [sentence]


def _asks(piece: str, fewest: int) -> bool:
    content = content_words(piece)
    return len(content) >= fewest or bool(content and names(piece)) or (fewest == 1 and len(piece.split()) >= SHORTEST)


def _compared(sentence: str) -> list[str]:
    """Both sides of a comparison, the second with what they are compared in."""
    if match := _EITHER.match(sentence):
        return [f"{match['lead']}, {match['one']}", f"{match['lead']}, {match['other']}"]
    for pattern in _COMPARISONS:
        if (match := pattern.match(sentence)) and content_words(match["other"]):
            one, other = match["one"], match["other"]
            shared = {stem(word) for word in content_words(one)} & {stem(word) for word in content_words(other)}
            missing = [] if shared else [word for word in content_words(one) if word not in names(one)][-4:]
            return [one, f"{other} ({' '.join(missing)})" if missing else other]
    sides = _VERSUS.split(sentence)
    return sides if len(sides) > 1 and all(content_words(side) for side in sides) else []


def _standing_alone(number: int, pieces: list[str], scene: str) -> str:
    """A part that names nothing of its own gets what its neighbour, or the scene, is about."""
    piece = pieces[number]
    alone = f"{scene} {piece}" if scene else piece
    if names(piece) and len(content_words(piece)) > 1:
        return alone
    neighbour = pieces[0] if number else pieces[1]
    if number == 0 and (not names(neighbour) or len(content_words(piece)) > FEW):
        return alone
    if {stem(word) for word in content_words(piece)} & {stem(word) for word in content_words(neighbour)}:
        return alone
    about = names(neighbour) or content_words(neighbour)[-3:]
    missing = [word for word in about if word.lower() not in alone.lower()]
    return f"{alone} ({' '.join(missing)})" if missing else alone

"""Where the sentences of a text begin and end."""

import re
from collections.abc import Iterator

Span = tuple[int, int]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words("dr mr mrs ms mx prof hon rev gen col sgt capt lt gov sen st mt messrs dipl ing hr fr")
"""A name follows: never the end of a sentence."""
_BEFORE_NUMBER = _words(
    "no nr nos vol vols p pp fig figs sec sect ch chap art eq tab ver v para par cl app ex bd s abs ziff kap"
)
"""The end of a sentence unless a number follows: `No. 5`, but `The answer is no. We …`."""
_INSIDE = _words(
    "e.g eg i.e ie vs cf viz approx ca esp incl excl resp al dept est ext max min tel abbr ed eds trans "
    "z.b d.h u.a bzw vgl ggf inkl evtl sog"
)
"""Inside a sentence, whatever follows."""
_BEFORE_STARTER = _words(
    "inc ltd co corp llc gmbh plc bros jr sr u.s u.k u.n e.u ph.d m.d b.sc m.sc b.a m.a d.c "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
)
"""The end of a sentence only before a word that likes to begin one: `Acme Inc. The …`, not `Acme Inc. Berlin`."""
_STARTERS = _words(
    "a after all also although an and any as at because before both but by do during each every for from he her here "
    "his how however i if in it its most my no not on one only or our please see she since so some such that the their "
    "then there these they this those to under until we what when where which while who why with you your "
    "der die das ein eine es er sie wir ich im in wenn"
)
_MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember quartal jahrhundert"
)
"""A number with a full stop before these is a German ordinal: `am 3. März`."""

_BLANK_LINE = re.compile(r"(?:\r\n|[\n\r\x0b\x85\u2028])[^\S\n\r]*(?:\r\n|[\n\r\x0b\x85\u2028])\s*|[\x0c\u2029]\s*")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x0b\x85\u2028]")
_BULLET = re.compile(r"\s*(?:[-*+•‣▪◦·–—]|\(?\d{1,3}[.)]|\(?[a-z]\))[^\S\n\r]+")
_HEADER = r"(?:[^:;|\n.!?]|\.(?! [^\W\d_])){1,60}: "
_ROW = re.compile(rf"\||{_HEADER}[^;\n]*; {_HEADER}|[^|\n]*\|[^|\n]*\||[^\t\n]+\t")
_STOP = re.compile(
    r"(?P<mark>[.!?…؟।॥۔።]+|[。！？｡．]+)"
    r"(?P<close>[\"'”’»)\]}」』）】〉》〕]*(?:\[\d{1,3}\])*)"
)
_WIDE = frozenset("。！？｡．")
_OPENING = "\"'“‘„«‹([{「『（【〈《〔¿¡*_#"
_LAST_WORD = re.compile(r"[^\W_](?:[\w.’'-]*[^\W_])?$")
_NEXT_WORD = re.compile(r"[^\W_]+")
_SHORT_LINE = 45
"""Running text is wrapped later than this; a shorter line before a capital ends on purpose."""
_LOOK_BACK = 40


def sentences(text: str) -> list[Span]:
    """Character spans of the sentences, in order, disjoint, without outer space; all that is not space is covered.

    List items, table rows, headings and paragraphs end a sentence without a full stop; a line that was
    only wrapped does not.
    """
    return [span for start, end in _segments(text) for span in _split(text, start, end)]


def bullet(text: str) -> bool:
    """The text begins with the mark of a list item."""
    return _BULLET.match(text) is not None


def row(text: str) -> bool:
    """The text reads as a row of a table: `header: cell; header: cell`, or cells between pipes or tabs."""
    return _ROW.match(text.strip()) is not None


def _segments(text: str) -> Iterator[Span]:
    """Stretches that no sentence crosses: paragraphs, and within them items, rows and short lines."""
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        yield from _lines(text, start, blank.start())
        start = blank.end()
    yield from _lines(text, start, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    line_start = start
    for line_break in _LINE_BREAK.finditer(text, start, end):
        following = _LINE_BREAK.search(text, line_break.end(), end)
        next_end = following.start() if following else end
        if _ends_on_purpose(text[line_start : line_break.start()], text[line_break.end() : next_end]):
            yield start, line_break.start()
            start = line_break.end()
        line_start = line_break.end()
    yield start, end


def _ends_on_purpose(line: str, following: str) -> bool:
    """The break between two lines is meant, not the wrapping of running text."""
    if bullet(following) or row(following) or row(line) or line.rstrip().endswith(":"):
        return True
    opening = following.lstrip()[:1]
    return len(line.strip()) < _SHORT_LINE and not (opening.islower() or line.rstrip().endswith((",", "-")))


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences of one segment; a row stays whole."""
    if row(text[start:end]):
        yield from _trimmed(text, start, end)
        return
    mark = _BULLET.match(text, start, end)
    for stop in _STOP.finditer(text, mark.end() if mark else start, end):
        if stop.end() < end and _ends_sentence(text, start, end, stop):
            yield from _trimmed(text, start, stop.end())
            start = stop.end()
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if stripped := piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(stripped)


def _ends_sentence(text: str, start: int, end: int, stop: re.Match[str]) -> bool:
    """Does the sentence that begins at `start` end at `stop`?"""
    after = text[stop.end()]
    if stop["mark"][0] in _WIDE:
        return _wide_stop_ends(text, stop, after)
    if not after.isspace():
        return False
    rest = text[stop.end() : min(end, stop.end() + _LOOK_BACK)].lstrip().lstrip(_OPENING)
    if rest[:1].islower() and not _in_lower_case(text, start):
        return False
    return stop["mark"] != "." or _full_stop_ends(text[max(start, stop.start() - _LOOK_BACK) : stop.start()], rest)


def _wide_stop_ends(text: str, stop: re.Match[str], after: str) -> bool:
    """East Asian text has no space after a stop; a sentence goes on behind a quotation: `「はい。」と言った。`."""
    if stop["mark"] == "．" and text[stop.start() - 1 : stop.start()].isdigit() and after.isdigit():
        return False
    return not stop["close"] or after.isspace() or after in _OPENING


def _in_lower_case(text: str, start: int) -> bool:
    """The writer begins sentences without capitals, as in a chat."""
    return text[start : start + _LOOK_BACK].lstrip()[:1].islower()


def _full_stop_ends(before: str, rest: str) -> bool:
    """Is the full stop after `before` more than the mark of an abbreviation, an initial or an ordinal?"""
    last = _LAST_WORD.search(before)
    following = _NEXT_WORD.match(rest)
    if last is None or following is None:
        return True
    word, then = last[0].casefold(), following[0].casefold()
    if word in _TITLES or word in _INSIDE:
        return False
    if word in _BEFORE_NUMBER and then[0].isdigit():
        return False
    if word.isdigit():
        return then not in _MONTHS
    initial = len(word) == 1 and last[0].isupper()
    return not (initial or word in _BEFORE_STARTER) or then in _STARTERS

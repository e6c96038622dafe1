"""The web query for a question, by rules: its topic without the chatter, and the dates that it means."""

import re
from datetime import date

from crag_graph.models.dates import dated, spelled_out
from crag_graph.models.languages import guess
from crag_graph.models.queries import MAX_QUERY, as_query, cut
from crag_graph.models.topics import phrase

_PRIVATE = re.compile(r"[^\s@]{1,64}@[^\s@]{1,255}\.\w+|<?https?://\S+|@\w[\w.-]*|(?<!\w)\+?\d[\d\s()/-]{7,}\d")
"""E-mail addresses, links, mentions and telephone numbers: no search needs them."""
_READ = 4_000
"""Characters of a question that are read."""


def web_query(standalone: str, today: date) -> str:
    """Keywords for a search engine, at most 400 characters, with month and year where something recent is asked for."""
    asked = cut(standalone, _READ)
    plain = spelled_out(" ".join(_PRIVATE.sub(" ", asked).split()), today)
    words = plain.rstrip("。？?! ") if guess(plain) == "ja" else phrase(plain, MAX_QUERY)
    return as_query(dated(words or plain, today, asked=asked))

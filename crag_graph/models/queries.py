"""What every web query has to be, whoever wrote it: one line of keywords, short enough for the search."""

MAX_QUERY = 400
"""Characters; Tavily rejects longer queries."""


def as_query(text: str) -> str:
    """The text in one line, without quotation marks around it, cut at a word border to at most 400 characters."""
    line = " ".join(text.replace("\0", " ").split()).strip("\"'`“”„«» ")
    return cut(line, MAX_QUERY)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of the text, cut at a word border where there is one."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    return (head.rsplit(maxsplit=1)[0] if " " in head.strip() else head[:limit]).rstrip()[:limit]

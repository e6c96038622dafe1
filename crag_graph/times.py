"""Which time a question asks about: what holds now, or what was."""

import re
from dataclasses import dataclass

_FORMER = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|earlier|used to|superseded|archived?|version \d+|v\d+)\b"
    r"|(?<!how )(?<!years )(?<!months )(?<!weeks )(?<!days )(?<!year )(?<!years and )(?<!or )\bold(?:er)?\b(?=\s+\w)",
    re.IGNORECASE,
)
"""`the old rules`, `under version 2`; not `how old must I be` and `passports for 24 years and older`."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, kw_only=True)
class Times:
    """`former`: the question asks for what was, whenever that was. `years`: those that it names."""

    former: bool = False
    years: frozenset[str] = frozenset()

    def meant(self, text: str) -> bool:
        """May what stands under this title be of the time that is asked about, though it no longer holds?"""
        return self.former or bool(self.years & years_in(text))


def times_asked_for(question: str) -> Times:
    return Times(former=_FORMER.search(question) is not None, years=years_in(question))


def years_in(text: str) -> frozenset[str]:
    return frozenset(_YEAR.findall(text))

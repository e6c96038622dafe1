"""What the bot says in its own words, in the language of whoever it speaks to."""

from crag_graph.phrases.languages import LANGUAGES, SOURCE, language, language_of_locale, speak, speaking
from crag_graph.phrases.phrase import Phrase, amount

__all__ = ["LANGUAGES", "SOURCE", "Phrase", "amount", "language", "language_of_locale", "speak", "speaking"]

"""Does a question ask what a text says as a whole, and nothing more particular?"""

import re
from collections.abc import Collection

from crag_graph.models.languages import STOP_WORDS, stop_words

_WORD = re.compile(r"[^\W_]+")
_WHOLE = re.compile(
    r"summar|overview|gist\b|recap|tl;?dr"
    r"|zusammenfass|\bfass\w* .*zusammen|überblick"
    r"|résum|resum|sintetiz|sintétiz|síntese|síntesis|aperçu"
    r"|要約|まとめ|概要",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\W*(?:what(?:'s|’s| is| are)? (?:(?:this|it|that|these|the \w+) )?(?:all )?about"
    r"|what(?: do(?:es)?)? (?:this|it|these|they|the \w+) says?|what is in (?:this|it|here|these|the \w+)"
    r"|wor(?:um geht|in geht|über geht) es(?: hier| da(?:rin)?)?|was steht (?:hier |da )?(?:drin|darin)"
    r"|de quoi (?:s['’]agit-il|parle\W\w+|ça parle)|de qu[eé] (?:se )?trata|do que (?:se )?trata|sobre o que é"
    r"|これは何(?:です|の)?\w*|何が書いてあ\w+)\W*",
    re.IGNORECASE,
)
_OF_TEXTS = re.compile(
    r"(?:summar|overview|gist|recap|tl|dr|tldr|file|doc|attach|pdf|report|text|paper|page|letter|content|main|key|major"
    r"|point|short|brief|sentence|bullet|idea|quick|paragraph|word|important|whole|entire|both|write|line"
    r"|zusammenfass|fass|zusammen|überblick|datei|dokument|anhang|anhäng|bericht|inhalt|wichtig|punkt|kurz|stichpunkt"
    r"|haupt|satz|sätze|absatz|ganz|beide|schreib|mach"
    r"|résum|resum|sintetiz|sintétiz|síntes|aperçu|fichier|pièce|joint|principa|court|bref|brève|texte|phrase|ligne"
    r"|archivo|adjunt|punto|puntos|breve|corto|frase|texto|línea"
    r"|arquivo|ficheiro|anex|ponto|pontos|curt|linha"
    r"|two|three|four|five|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|três|duas|cuatro|quatro|cinco|\d"
    r"|fais|faire|haz|favor|faz|faça)",
    re.IGNORECASE,
)
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_SHORT = 24
"""Characters of a question without spaces between its words that can hardly ask more than one thing."""


def asks_for_gist(question: str, names: Collection[str] = ()) -> bool:
    """A summary, or what it is about. `names` of the texts may be in it; a word about a topic may not.

    "Summarise what it says about prices" is a question about prices: how a text begins would not answer it.
    """
    for name in names:
        question = question.replace(name, " ")
    if _ABOUT.fullmatch(question):
        return True
    if not _WHOLE.search(question):
        return False
    if _EAST_ASIAN.search(question):
        return len(question.strip()) <= _SHORT
    small = frozenset(word for language in STOP_WORDS for word in stop_words(language))
    words = (word for word in _WORD.findall(question.casefold()) if len(word) > 1)
    return all(word in small or _OF_TEXTS.match(word) for word in words)

"""Words of a question: which carry content, which are names or codes, their stems."""

import re
from functools import lru_cache

import snowballstemmer

LANGUAGES = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
}
_STOP = {
    "en": (
        "a about above after again all also am an and any anybody anyone anything are around as at be because been before "
        "being below between both but by can come comes could did do does doing done down each either else even ever every "
        "for from further get gets give gives go goes going got had has have having he hello help her here hey hi him his "
        "how i if in into is it its just know let like long many may me mean more most much must my need needs no nor not "
        "now of off ok on once one ones only or other our out over own per please pls put really same say says see shall "
        "she should so some somebody someone something still such take takes tell than thank thanks that the their them "
        "then there these they thing things this those through till to too under until up upon us use used very want was "
        "way we well were what whats when where whether which while who whom whose why will with within without would yes "
        "yet you your yours exactly actually right there's what's it's i'm don't does there anything whats does"
    ),
    "de": (
        "aber alle als am an auch auf aus bei beim bin bis da das dass dem den der des die dies diese dieser dir doch du "
        "ein eine einem einen einer eines er es für hat haben hier ich ihr im in ist ja kann kein keine man mein mich mir "
        "mit muss nach nicht noch nur ob oder ohne sein sich sie sind so soll über um und uns unser unsere unserer unseren "
        "von vor wann war warum was welche welcher welches welchem welchen wenn wer werden wie wieviel viel viele will wir "
        "wird wo wurde zu zum zur"
    ),
    "fr": (
        "a à au aux avec ce ces cette combien comment dans de des du elle en est et être eu il ils j je l la le les leur "
        "lui ma mais me mes mon n ne nos notre nous on ou où par pas pour qu quand que quel quelle quels quelles qui s sa "
        "sans se ses son sont sur t ta te tes toi ton tu un une vos votre vous y d c est-ce reste-t-il"
    ),
    "es": (
        "a al como con cual cuál cuándo cuando cuánto cuánta cuántos cuántas de del dónde donde el ella en entre es esta "
        "este esto ha hay la las le les lo los me mi muy no nos o para pero por porque que qué quién quien se ser si sin "
        "sobre son su sus te tiene tu un una uno y ya yo"
    ),
    "pt": (
        "a ao aos as com como da das de do dos e é ela ele em entre eu foi há isso já mais mas me meu minha muito na nas "
        "não no nos nós o os ou para pela pelo por qual quais quando quanto quanta quantos quantas que quem se sem ser seu "
        "sua são também tem têm um uma você à às"
    ),
}
_STOP_BY_LANGUAGE = {language: frozenset(words.split()) for language, words in _STOP.items()}
STOP_WORDS = frozenset().union(*_STOP_BY_LANGUAGE.values())
ENGLISH_STOP_WORDS = _STOP_BY_LANGUAGE["en"]

_TIMES = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas"
)
_NO_NAMES = STOP_WORDS | frozenset(_TIMES.split())

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\W_]+")
_CODE = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[\w-]+|[A-Z]{2,}(?:-[A-Z0-9]+)*")


def words(text: str) -> list[str]:
    """The words of a text as written."""
    return [match[0] for match in _WORD.finditer(text)]


def language(text: str) -> str:
    """The language whose small words the text uses most; English unless another one is clearer."""
    lowered = [word.lower() for word in words(text)]
    counts = {code: sum(word in stop for word in lowered) for code, stop in _STOP_BY_LANGUAGE.items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > counts["en"] else "en"


def content_words(text: str) -> list[str]:
    """The words that carry content, as written."""
    return [word for word in words(text) if word.lower() not in STOP_WORDS]


def names(text: str) -> list[str]:
    """Capitalised words behind the first, codes and words with digits: what a question is about."""
    found = words(text)
    return [
        word
        for position, word in enumerate(found)
        if word.lower() not in _NO_NAMES
        and (codelike(word) or (word[0].isupper() and (position > 0 or len(found) == 1)))
    ]


def codelike(word: str) -> bool:
    """A code, acronym, or word with a digit: `E4012`, `SEV2`, `DMARC`; never a plain number."""
    return bool(_CODE.fullmatch(word)) and len(word) > 1


@lru_cache(maxsize=20_000)
def stem(word: str, code: str = "en") -> str:
    lowered = word.lower()
    return lowered if any(sign.isdigit() for sign in lowered) else str(_stemmer(code).stemWord(lowered))


@lru_cache
def _stemmer(code: str) -> "snowballstemmer.stemmer":
    return snowballstemmer.stemmer(LANGUAGES.get(code, "english"))

"""Which language a short text is in, by its small words; enough to pick word lists and to answer in, never to refuse a text."""

import re
from functools import cache

_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

CERTAIN = 1.0
"""How much more than of any other language there is in a text that leaves no doubt: one small word."""
_LETTERS = {"de": "äöüß", "fr": "èêœçàù", "es": "ñ¿¡", "pt": "ãõêçâ"}

STOP_WORDS = {
    "en": (
        "a about after again all also am an and any anyone anything are as at be been before being but by can could "
        "did do does doing don't during each ever every few for from get gets getting give go got had has have having "
        "he hello her here hers hey hi him his how i i'd i'm i've if in into is isn't it it's its just know let like "
        "many may me more most much must my myself need no not now of off on one ones only or other our ours out over "
        "own please possible really same she should so some somebody someone something such sure tell than thank "
        "thanks that that's the their theirs them then there these they thing things this those through to too true "
        "under until up us very want was we were what what's when where which while who whom whose why will with "
        "would you your yours"
    ),
    "de": (
        "aber alle allem allen aller als also am an auch auf aus bei beim bin bis bist bitte da damit dann darf das dass "
        "dein dem den denn der des die dies diese diesem diesen dieser doch du dürfen ein eine einem einen einer eines "
        "er es etwas für gibt hab habe haben hast hat hatte ich ihm ihn ihnen ihr ihre im in ist ja jede jeder kann "
        "kannst kein keine können könnte man mein meine mich mir mit muss müssen nach nicht noch nun nur ob oder ohne "
        "sein seine sich sie sind so soll sollen sollte sollten über um und uns unser unsere unter vom von vor wann "
        "war waren warum was wegen welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso wir "
        "wird wo wofür woher wohin wurde zu zum zur"
    ),
    "fr": (
        "à ainsi alors au aucun aussi aux avec avoir c'est ce ceci cela celle celui ces cet cette ceux chez comme "
        "comment d'un d'une dans de des du elle elles en est est-ce et être eu faire fait faut il ils j'ai je l'on la "
        "le les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où par pas peu peut peux plus "
        "pour pourquoi puis qu'il qu'on qu'est quand que quel quelle quelles quels qui quoi s'il sa sans se ses si son "
        "sont sous sur ta te tes toi ton tous tout toute toutes tu un une vos votre vous y"
    ),
    "es": (
        "a al algo alguien algún alguna ante antes así aún aunque cada como cómo con cuál cuáles cuando cuándo cuánta "
        "cuántas cuánto cuántos de del desde donde dónde e el él ella ellas ellos en entonces entre era es esa ese eso "
        "esta está están este esto estos estoy fue ha hace hacer hacia han hasta hay la las le les lo los más me mi "
        "mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero poco por porque puede puedo "
        "pues qué que quién quiénes se sea según ser si sí sin sobre son su sus también tan te tiene tengo tienen toda "
        "todo todos tu tus un una unas uno unos usted y ya yo"
    ),
    "pt": (
        "a à ao aos aqui as às até cada com como da das de dela dele deles depois do dos e é ela elas ele eles em entre "
        "era essa esse esta está estão este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não nas "
        "nem nenhum no nos nossa nosso num numa o onde os ou para pela pelo pode podem por porque posso qual quais "
        "quando quanta quantas quanto quantos que quem são se seja sem ser seu seus só sobre sua suas também te tem "
        "tenho têm todos tu um uma você vocês"
    ),
    "ja": "の は が を に へ と で から まで も や か です ます した する ある いる ください 教えて 何 いつ どこ 誰 どう なぜ",
}
"""Words that carry no topic, by language."""


def guess(text: str) -> str:
    """The language whose small words the text has most, its own letters breaking a tie; `en` where nothing tells."""
    hits = _hits(text)
    return max(hits, key=lambda language: (hits[language], language == "en"))


def recognise(text: str) -> str:
    """The same where the text leaves no doubt, else nothing: too few words, or words of several languages alike."""
    hits = _hits(text)
    best, second = sorted(hits, key=hits.__getitem__, reverse=True)[:2]
    return best if hits[best] >= hits[second] + CERTAIN else ""


def _hits(text: str) -> dict[str, float]:
    """How much in the text is of each language."""
    if _KANA.search(text):
        return {language: float(len(text)) if language == "ja" else 0.0 for language in STOP_WORDS}
    lowered = text.casefold().replace("’", "'")
    words = _WORD.findall(lowered)
    return {
        language: sum(word in stop_words(language) for word in words)
        + any(letter in lowered for letter in _LETTERS.get(language, "")) / 2
        for language in STOP_WORDS
    }


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of this language that carry no topic."""
    return frozenset(STOP_WORDS[language].split())

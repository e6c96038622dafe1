"""What the people of the walk say, by language."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`locale`: of the people's Slack."""

    locale: str
    weeks: str
    twins: str
    coffee: str
    gist: str


ASKED = {
    "en": Asked(
        locale="en-US",
        weeks="How many weeks of parental leave do I get?",
        twins="How many weeks of parental leave do I get for twins?",
        coffee="Who repairs the coffee machine?",
        gist="Summarise this.",
    ),
    "de": Asked(
        locale="de-DE",
        weeks="Wie viele Wochen Elternzeit bekomme ich?",
        twins="Wie viele Wochen Elternzeit bekomme ich für Zwillinge?",
        coffee="Wer repariert die Kaffeemaschine?",
        gist="Fasse das bitte zusammen.",
    ),
    "fr": Asked(
        locale="fr-FR",
        weeks="À combien de semaines de congé parental ai-je droit ?",
        twins="À combien de semaines de congé parental ai-je droit pour des jumeaux ?",
        coffee="Qui répare la machine à café ?",
        gist="Résume ce document.",
    ),
    "es": Asked(
        locale="es-ES",
        weeks="¿Cuántas semanas de permiso parental me corresponden?",
        twins="¿Cuántas semanas de permiso parental me corresponden por gemelos?",
        coffee="¿Quién repara la máquina de café?",
        gist="Resume este documento.",
    ),
    "pt": Asked(
        locale="pt-BR",
        weeks="A quantas semanas de licença parental tenho direito?",
        twins="A quantas semanas de licença parental tenho direito por gémeos?",
        coffee="Quem repara a máquina de café?",
        gist="Faz um resumo do documento.",
    ),
    "ja": Asked(
        locale="ja-JP",
        weeks="育児休暇は何週間取得できますか？",
        twins="双子の場合、育児休暇は何週間取得できますか？",
        coffee="コーヒーメーカーは誰が修理しますか？",
        gist="これを要約してください。",
    ),
}

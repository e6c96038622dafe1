"""Public and enterprise sets about a farm, small and in the form of the real ones."""

import csv
import json
from pathlib import Path
from typing import Any

GOATS = "Goats give about three litres of milk a day. They do so for ten months after a kid was born."
HENS = "Hens lay about three hundred eggs a year. In winter they lay fewer, because the days are short."
BEES = "Bees make forty kilos of honey in a good summer. In a wet summer they make hardly any at all."
LEAVE = "Every farmhand has 27 days of leave a year."
WAGES = "The salary arrives on the last working day of the month."
_ARES = (
    "document",
    "synthetic_query",
    "Context_Relevance_Label",
    "generated_answer",
    "Answer_Faithfulness_Label",
    "Answer_Relevance_Label",
)


def write_farm(folder: Path) -> Path:
    """All sets that transfer.py reads, in `folder`."""
    write_xquad(folder / "xquad")
    write_clapnq(folder / "clapnq")
    write_ares(folder / "ares_synthetic")
    write_pubmedqa(folder / "pubmedqa")
    for name in ("enterprise_dev", "enterprise_saas", "enterprise_city"):
        write_enterprise(folder / name)
    return folder


def write_xquad(folder: Path) -> Path:
    """Two articles: of goats and hens, and of bees."""
    farm = [
        _paragraph(GOATS, "How much milk does a goat give a day?", "three litres"),
        _paragraph(HENS, "How many eggs does a hen lay a year?", "three hundred"),
    ]
    bees = [_paragraph(BEES, "How much honey do bees make?", "forty kilos")]
    articles = [{"title": "Farm", "paragraphs": farm}, {"title": "Bees", "paragraphs": bees}]
    _write(folder / "xquad.en.first24articles.json", json.dumps({"data": articles}))
    return folder


def write_clapnq(folder: Path) -> Path:
    """Milk is answered by a marked sentence; what a goat costs is asked of the same page, which does not say it."""
    first = f"{GOATS.split('. ', maxsplit=1)[0]}."
    for kind, question, marked in (
        ("answerable", "How much milk does a goat give a day?", [first, "A sentence that is not there."]),
        ("unanswerable", "What does a goat cost?", []),
    ):
        asked = {
            "input": question,
            "passages": [{"title": "Goat", "text": GOATS}],
            "output": [{"selected_sentences": marked}],
        }
        _write(folder / f"clapnq_dev_{kind}_first150.jsonl", f"{json.dumps(asked)}\n")
    return folder


def write_ares(folder: Path) -> Path:
    """Two good rows; one answer that is not in its text, one unfaithful, one about another text, one text too short."""
    rows = (
        (GOATS, "How much milk?", "Yes", "three litres", "Yes", "Yes"),
        (HENS, "How many eggs?", "Yes", "three hundred", "Yes", "Yes"),
        (HENS, "How many hens?", "Yes", "a dozen", "Yes", "Yes"),
        (GOATS, "For how long?", "Yes", "ten months", "No", "Yes"),
        (BEES, "Who milks the goats?", "No", "forty kilos", "Yes", "Yes"),
        ("Sheep give wool.", "What do sheep give?", "Yes", "wool", "Yes", "Yes"),
    )
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("nq", "hotpotqa", "wow", "multirc"):
        with (folder / f"{name}_synthetic_queries.tsv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t").writerows([_ARES, *rows])
    return folder


def write_pubmedqa(folder: Path) -> Path:
    """An abstract in two sections, and one in a single one."""
    milk = {"QUESTION": "Does hay make goats give more milk?", "LABELS": ["AIMS", "RESULTS"], "CONTEXTS": [GOATS, BEES]}
    eggs = {"QUESTION": "Do hens lay less in winter?", "LABELS": ["RESULTS"], "CONTEXTS": [HENS]}
    _write(folder / "ori_pqal.json", json.dumps({"11": milk, "12": eggs}))
    return folder


def write_enterprise(folder: Path) -> Path:
    """A handbook and an older edition; questions in its words, in other words, in German, and one about something else."""
    _write(folder / "docs" / "leave-2025.md", f"# Handbook 2025\n\n## Leave\n\n{LEAVE}\n\n## Pay\n\n{WAGES}\n")
    _write(folder / "docs" / "leave-2019.md", "# Handbook 2019\n\n## Leave\n\nEvery farmhand has 20 days of leave.\n")
    questions = [
        _question("q1", "How many days of leave do farmhands have?", "correct", LEAVE, tags=["g:single"]),
        _question("q2", "When do wages land?", "correct", WAGES, kind="paraphrase"),
        _question("q3", "Wann kommt der Lohn?", "correct", WAGES, kind="multilingual"),
        _question("q4", "Who repairs the tractor?", "incorrect", kind="unanswerable_far"),
    ]
    _write(folder / "questions.jsonl", "".join(f"{json.dumps(one)}\n" for one in questions))
    return folder


def _paragraph(text: str, question: str, span: str) -> dict[str, Any]:
    answers = [{"text": span, "answer_start": text.index(span)}]
    return {"context": text, "qas": [{"question": question, "answers": answers}]}


def _question(
    name: str, text: str, verdict: str, *quotes: str, kind: str = "single_fact", tags: list[str] | None = None
) -> dict[str, Any]:
    return {
        "id": name,
        "standalone": text,
        "verdict": verdict,
        "gold_docs": ["docs/leave-2025.md"] if quotes else [],
        "gold_quote": list(quotes),
        "also_ok": [],
        "type": kind,
        "tags": tags or [],
    }


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")

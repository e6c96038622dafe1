"""Brings the catalogues up to date with the phrases in the code; translations that are there stay.

    python -m crag_graph.phrases.collect

Run in a checkout: it reads the packages and writes `crag_graph/phrases/catalogues/*.po`. Phrases without a translation
are printed, and said in English until they have one.
"""

import ast
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from crag_graph.phrases.languages import LANGUAGES, SOURCE

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "crag_graph")
CATALOGUES = Path(__file__).parent / "catalogues"
HEADER = "# What the bot says, by language. `make phrases` adds and removes phrases; the translations are written here."


def phrases() -> Iterator[tuple[str, str]]:
    """Each phrase in the code: where it stands, and what it says."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Phrase":
                    yield file.relative_to(ROOT).as_posix(), ast.literal_eval(node.args[0])


def collected(language: str) -> Catalog:
    """The catalogue of a language with exactly the phrases of the code, by where they stand first."""
    known = _known(CATALOGUES / f"{language}.po", language)
    catalogue = Catalog(
        locale=language,
        project="crag",
        version="1",
        header_comment=HEADER,
        creation_date=known.creation_date,
        revision_date=known.creation_date,
        msgid_bugs_address="",
        last_translator="",
        language_team="",
        fuzzy=False,
    )
    for place, english in phrases():
        before = known.get(english)
        catalogue.add(english, before.string if before else "", locations=[(place, 0)])
    return catalogue


def _known(file: Path, language: str) -> Catalog:
    if not file.exists():
        return Catalog(locale=language)
    with file.open("rb") as opened:
        return read_po(opened, locale=language)


def written(catalogue: Catalog) -> bytes:
    """As it stands in its file."""
    file = BytesIO()
    write_po(file, catalogue, width=120)
    return file.getvalue()


def main() -> int:
    missing = 0
    for language in LANGUAGES:
        if language == SOURCE:
            continue
        catalogue = collected(language)
        (CATALOGUES / f"{language}.po").write_bytes(written(catalogue))
        for message in catalogue:
            if message.id and not message.string:
                sys.stdout.write(f"{language}: {message.id}\n")
                missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

import pytest

from crag_graph.evaluators.spelling import meant, slips_between
from crag_graph.models.embed_local import LocalEmbedder

TEXTS = (
    "The monthly transit pass is paid in Dunmarrow. The library lends twelve items at once.",
    "Containers stand at the recycling yard on Tar Lane. The sirens are tested on Wednesdays.",
)


async def read_as(embedder: LocalEmbedder, question: str) -> str:
    (read,) = await embedder.embed_tokens([question])
    return meant(question, read, TEXTS)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (
            "how many contianers stand at the recyling yard on tar lnae",
            "how many containers stand at the recycling yard on tar lane",
        ),
        ("waht does teh monthly tranist pass cost", "what does the monthly transit pass cost"),
        ("how meny itmes does the libary lend", "how many items does the library lend"),
    ],
)
async def test_what_was_typed_in_haste_is_read_as_it_was_meant(embedder: LocalEmbedder, typed: str, read: str) -> None:
    assert await read_as(embedder, typed) == read


@pytest.mark.parametrize(
    "question",
    [
        "How many containers stand at the yard?",
        "What do kelp dumplings from Brellia cost?",  # one odd word may be one that the passages lack
        "What does QS-4290 mean for Slotberry and Chimefeed?",  # names and codes
        "Wie lange muss ein Sauerteigbrot gehen?",
        "Combien coûte l’abonnement mensuel ?",
        "",
        "???",
        "zzzqx vvvkj wwwqp",
    ],
)
async def test_other_questions_stay_as_they_are(embedder: LocalEmbedder, question: str) -> None:
    assert await read_as(embedder, question) == question


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [("teh", "the", 1), ("libary", "library", 1), ("same", "same", 0), ("abc", "", 3), ("sprots", "sports", 1)],
)
def test_slips_are_counted(one: str, other: str, slips: int) -> None:
    assert slips_between(one, other) == slips_between(other, one) == slips


@pytest.mark.timeout(10)
async def test_an_endless_question_over_endless_passages_is_no_endless_work(embedder: LocalEmbedder) -> None:
    question = "contianers recyling " * 200
    (read,) = await embedder.embed_tokens([question])
    meant(question, read, [" ".join(f"word{number}abc containers" for number in range(20_000))])

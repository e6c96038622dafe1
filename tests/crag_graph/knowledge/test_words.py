import pytest

from crag_graph.knowledge.words import LONGEST_WORD, MOST_WORDS, storable, words_of


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Employees are entitled to leave.", "employee entitlement"),
        ("RUNNING the policies", "run policy"),
        ("Déjà vu im Café", "deja cafe"),
        ("Die Straße", "strasse"),
        ("Error E4012", "e4012"),
        ("ＡＢＣ full width", "abc"),
        ("育児休業は二年です。", "育児休業"),
        ("ลาพักร้อน", "พักร้อน"),
        ("육아 휴직", "휴직"),
        ("Отпуск по уходу", "отпуск"),
    ],
)
def test_a_question_finds_the_words_of_a_passage_in_any_script(stored: str, asked: str) -> None:
    assert set(words_of(asked)) <= set(words_of(stored)) or set(words_of(asked)) & set(words_of(stored))


def test_words_come_once_and_in_order() -> None:
    assert words_of("Leave, leaves; LEAVE? Days!") == ["leav", "day"]


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert words_of("育児休業") == ["育児", "児休", "休業"]
    assert words_of("休") == ["休"]


@pytest.mark.parametrize("text", ["", "   ", "?!…", "_ - /", "\x00", "\ud800", "😀"])
def test_a_text_may_have_no_words(text: str) -> None:
    assert words_of(text) == []


def test_hostile_texts_give_words_that_a_tsvector_holds() -> None:
    assert words_of("x" * (LONGEST_WORD + 1)) == []
    assert len(words_of(" ".join(f"n{number}" for number in range(2 * MOST_WORDS)))) == MOST_WORDS
    assert words_of("it's a 'quoted' | & ! <-> word:*") == ["it", "s", "a", "quot", "word"]


def test_what_cannot_be_stored_is_replaced_without_moving_the_rest() -> None:
    assert storable("a\x00b\ud83dc") == "a\ufffdb\ufffdc"
    assert storable("naïve 😀") == "naïve 😀"

from hypothesis import given
from hypothesis import strategies as st

from bot.cleaning import clean, clean_all


def test_nul_goes_pairs_are_joined_and_lone_surrogates_are_replaced() -> None:
    assert clean("a\x00b \ud83d\ude00 \ud83d x \ude00") == "ab 😀 \ufffd x \ufffd"


def test_texts_deep_inside_plain_data_are_cleaned() -> None:
    assert clean_all({"a\x00": [("x\x00", 1, None)]}) == {"a": [["x", 1, None]]}


@given(st.text(alphabet=st.characters(categories=["L", "N", "Cs", "Cc"])))
def test_every_cleaned_text_can_be_stored(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned

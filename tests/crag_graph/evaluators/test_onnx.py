"""Any exported scorer through the evaluator's interface, with tiny models built here."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from crag_graph.evaluators.calibration import CalibrationError
from crag_graph.evaluators.onnx import OnnxEvaluator, ScorerError
from crag_graph.services import ModelRejectedError
from crag_graph.strips import decompose
from tests.crag_graph.evaluators.conftest import passage

WORDS = ["[PAD]", "[UNK]", "[SEP]", "leave", "days", "pump", "soft"]
ABOUT_LEAVE = passage("leave days days leave")
ABOUT_PUMPS = passage("pump soft pump soft")


def scorer(folder: Path, weights: list[list[float]], *, inputs: tuple[str, ...] = ("input_ids",)) -> Path:
    """A model whose logits are the mean over the tokens of a row of `weights` for each word."""
    table = numpy_helper.from_array(np.array(weights, np.float32), "table")
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs]
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(weights[0])])
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", inputs[0]], ["rows"]),
            helper.make_node("ReduceMean", ["rows"], ["logits"], axes=[1], keepdims=0),
        ],
        "scorer",
        given,
        [logits],
        [table],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A [SEP] $B", special_tokens=[("[SEP]", 2)])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def liking(word: str, *, classes: int = 1) -> list[list[float]]:
    rows = [[0.0] * classes for _ in WORDS]
    rows[WORDS.index(word)][-1] = 8.0
    return rows


@pytest.mark.parametrize("classes", [1, 2, 3])
async def test_one_two_and_three_classes_become_scores(tmp_path: Path, classes: int) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave", classes=classes)))
    evaluation = await evaluator.evaluate("days", [ABOUT_LEAVE, ABOUT_PUMPS])
    leave, pumps = (score.value for score in evaluation.scores)
    assert 1 >= leave > pumps >= 0
    assert evaluation.scores[0].reason == "names days"


async def test_the_model_file_itself_may_be_named(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave")) / "model.onnx")
    assert (await evaluator.evaluate("days", [ABOUT_LEAVE])).scores[0].value > 0.5


async def test_many_passages_of_any_length_keep_their_order(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave")))
    passages = [passage("leave " * (40 - n) + "pump " * (7 * n)) for n in range(40)]
    values = [score.value for score in (await evaluator.evaluate("soft", passages)).scores]
    alone = [(await evaluator.evaluate("soft", [one])).scores[0].value for one in passages[::13]]
    assert values[::13] == pytest.approx(alone, abs=0.1)
    assert values[0] > values[-1]


async def test_each_part_of_a_question_is_scored(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave")))
    evaluation = await evaluator.evaluate("How many days of leave, and how is the pump cleaned?", [ABOUT_LEAVE])
    assert len(evaluation.parts) == 2
    assert evaluation.scores[0].value == max(part.scores[0].value for part in evaluation.parts)


async def test_strips_are_filtered_by_the_same_model(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave", classes=2)))
    strips = [*decompose(ABOUT_LEAVE), *decompose(passage("[UNK] " * 3))]
    filtering = await evaluator.filter("leave", strips)
    assert len(filtering.scores) == len(filtering.keep) == len(strips)
    assert filtering.keep[0]


async def test_no_passages_and_no_strips_need_no_model(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave")))
    assert (await evaluator.evaluate("leave", [])).scores == ()
    assert (await evaluator.filter("leave", [])).keep == ()


async def test_a_calibration_beside_the_model_is_used(tmp_path: Path) -> None:
    folder = scorer(tmp_path, liking("leave"))
    before = (await OnnxEvaluator(folder).evaluate("soft", [ABOUT_LEAVE])).scores[0].value
    (folder / "calibration.json").write_text(json.dumps({"slope": 1.0, "shift": -3.0}))
    after = (await OnnxEvaluator(folder).evaluate("soft", [ABOUT_LEAVE])).scores[0].value
    assert after < before


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "leave " * 50_000])
async def test_any_text_is_scored(tmp_path: Path, text: str) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave")))
    assert len((await evaluator.evaluate(text or "?", [passage(text)])).scores) == 1


def test_a_missing_model_says_so(tmp_path: Path) -> None:
    folder = scorer(tmp_path, liking("leave"))
    (folder / "model.onnx").unlink()
    with pytest.raises(ScorerError, match=r"model\.onnx"):
        OnnxEvaluator(folder)


def test_a_missing_tokenizer_says_so(tmp_path: Path) -> None:
    folder = scorer(tmp_path, liking("leave"))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ScorerError, match=r"tokenizer\.json"):
        OnnxEvaluator(folder)


def test_a_file_that_is_no_model_says_so(tmp_path: Path) -> None:
    folder = scorer(tmp_path, liking("leave"))
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ScorerError):
        OnnxEvaluator(folder)


@pytest.mark.parametrize("text", ["{", "[]", '{"slope": 0, "shift": 1}', '{"slope": "steep"}'])
def test_a_calibration_that_makes_no_sense_says_so(tmp_path: Path, text: str) -> None:
    folder = scorer(tmp_path, liking("leave"))
    (folder / "calibration.json").write_text(text)
    with pytest.raises(CalibrationError):
        OnnxEvaluator(folder)


def test_a_model_with_other_inputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScorerError, match="pixels"):
        OnnxEvaluator(scorer(tmp_path, liking("leave"), inputs=("pixels",)))


async def test_a_model_with_four_classes_is_refused(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(scorer(tmp_path, liking("leave", classes=4)))
    with pytest.raises(ModelRejectedError, match="4 classes"):
        await evaluator.evaluate("days", [ABOUT_LEAVE])

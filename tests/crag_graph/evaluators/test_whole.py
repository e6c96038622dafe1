from crag_graph.evaluators.whole import WholeEvaluator
from crag_graph.strips import decompose
from tests.fakes.services import passage

PLAN, BILL = (
    passage("We go by train. It takes a day.", title="plan.md"),
    passage("It costs 300 euros.", title="bill.md"),
)


async def test_of_one_document_everything_counts_for_the_question() -> None:
    evaluation = await WholeEvaluator().evaluate("Sum it up!", [PLAN, PLAN])
    assert [part.text for part in evaluation.parts] == ["Sum it up!"]
    assert [score.value for score in evaluation.scores] == [1.0, 1.0]


async def test_of_several_each_is_a_part_of_the_question() -> None:
    evaluation = await WholeEvaluator().evaluate("Sum them up!", [PLAN, BILL])
    told = {part.text: [score.value for score in part.scores] for part in evaluation.parts}
    assert told == {"plan.md": [1.0, 0.0], "bill.md": [0.0, 1.0]}


async def test_every_strip_is_kept() -> None:
    strips = decompose(PLAN)
    filtering = await WholeEvaluator().filter("Sum it up!", strips)
    assert filtering.keep == (True,) * len(strips)
    assert len(filtering.scores) == len(strips)

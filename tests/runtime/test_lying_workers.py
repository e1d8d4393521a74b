"""Whatever a driver answers or raises ends its own job, with a reason, and nothing else."""

import math

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.model import Cause, Finding, JobState, Outcome
from worldfs.testing.null_driver import NullDriver


def cyclic():
    value = []
    value.append(value)
    return value


def raises(error):
    def raise_it():
        raise error

    return raise_it


EXECUTES = {
    "none": lambda: None,
    "true": lambda: True,
    "word": lambda: "succeeded",
    "a class": lambda: Outcome,
    "ok is a word": lambda: Outcome("no", "not at all"),
    "ok is 1": lambda: Outcome(1),
    "a cause with a success": lambda: Outcome(True, "there", Cause.ERROR, "RUNTIME_ERROR"),
    "a cause that is none": lambda: Outcome(False, "x", "because"),
    "message none": lambda: Outcome(True, None),
    "half a character": lambda: Outcome.success("\ud800"),
    "huge": lambda: Outcome.success("x" * 10_000_000),
    "nan": lambda: Outcome.success("x", d=math.nan),
    "infinite number": lambda: Outcome.success("x", d=10**400),
    "cyclic": lambda: Outcome.success("x", a=cyclic()),
    "an object": lambda: Outcome.success("x", a=object()),
    "keys": lambda: Outcome(True, evidence={1: 2}),
    "no mapping": lambda: Outcome(True, evidence=[1]),
    "findings": lambda: Outcome(False, findings=("no",)),
    "half made": lambda: object.__new__(Outcome),
    "exit": raises(SystemExit(0)),
    "ctrl-c": raises(KeyboardInterrupt()),
    "generator": raises(GeneratorExit()),
    "recursion": raises(RecursionError("deep")),
    "memory": raises(MemoryError()),
}
REVIEWS = {
    "none": lambda: None,
    "true": lambda: True,
    "words": lambda: ["no"],
    "a finding without texts": lambda: [Finding(None, None, None, None, None)],
    "a warning by truthiness": lambda: [Finding("C", "f", "e", "x", "y", warning="no")],
    "exit": raises(SystemExit(0)),
    "without end": lambda: iter(int, 1),
}


class Liar(NullDriver):
    def __init__(self, *, answer=None, judges=None):
        super().__init__()
        self.answer, self.judges = answer, judges

    def review(self, order):
        return () if self.judges is None else self.judges()

    def execute(self, order, run):
        return Outcome.success("done") if self.answer is None else self.answer()


def served(bench, liar):
    bench.nodes = {"liar": liar, "honest": NullDriver()}
    bench.hooks.findings = lambda order: bench.nodes[order.node].review(order)
    bench.submit(
        bench.order("a", "liar"),
        bench.order("b", "liar", seq=1),
        bench.order("c", "honest"),
        bench.order("d", "honest", seq=1),
    )
    bench.start(threads=True)
    bench.until(lambda: not bench.kernel.open.table)
    return [bench.outcome(id) for id in ("a", "b")]


@pytest.mark.parametrize("lie", EXECUTES)
def test_a_wrong_outcome_ends_its_job_and_no_other(bench, lie):
    for outcome in served(bench, Liar(answer=EXECUTES[lie])):
        assert not outcome.ok and outcome.cause is Cause.ERROR and outcome.message and outcome.code
        assert lie in ("recursion", "memory") or "liar: worldfs" not in outcome.message or outcome.findings
    assert [bench.status(id).state for id in ("c", "d")] == [JobState.SUCCEEDED] * 2
    bench.kernel.close()


@pytest.mark.parametrize("lie", REVIEWS)
def test_a_wrong_review_moves_nothing_and_ends_its_job_and_no_other(bench, lie):
    for outcome in served(bench, Liar(judges=REVIEWS[lie])):
        assert not outcome.ok and outcome.message
    assert [bench.status(id).attempt for id in ("a", "b")] == [0, 0]
    assert [bench.status(id).state for id in ("c", "d")] == [JobState.SUCCEEDED] * 2
    bench.kernel.close()


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("no film", code="NO_FILM", fix="bring one"), "NO_FILM", "no film"),
        (OSError("gone"), "PLUGIN_FAULT", "gone"),
    ],
)
def test_an_error_of_what_a_driver_asks_of_earlier_jobs_refuses_that_one_order(bench, error, code, said):
    class Demanding(NullDriver):
        def demands(self, job, needed):
            raise error

    for outcome in served(bench, Demanding()):
        assert outcome.cause is Cause.REJECTED and outcome.code == code and said in outcome.message
    assert [bench.status(id).state for id in ("c", "d")] == [JobState.SUCCEEDED] * 2
    bench.kernel.close()


def test_the_reason_names_the_driver_the_field_what_was_found_and_what_was_expected(bench):
    outcome, _ = served(bench, Liar(answer=lambda: Outcome.success("x", d=[1, math.nan])))
    assert outcome.code == "PLUGIN_VALUE"
    for part in ("liar", "Liar execute evidence.d[1]", "nan", "a finite number"):
        assert part in outcome.message
    bench.kernel.close()

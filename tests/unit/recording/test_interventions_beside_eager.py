"""Records of calls beside eager, of exports and of frames that were not compiled, as parts of the model."""

from typing import Any

import pytest

from dynamo_core.model import (
    ComparedValue,
    ConstantSeen,
    Deferred,
    InputSeen,
    Place,
    Process,
    StackFrame,
    WrongNode,
)
from dynamo_core.model.ids import UNKNOWN_FILE
from dynamo_core.shared import names
from support.trace_bytes import artifact, process_of

STARTED = artifact(names.PROCESS_START, {"argv": ["x.py"], "torch": "2.13.0", "pid": 2350})
VALUE = {"name": "output 0", "error": 1, "allowed": 2.5, "against": "eager", "detail": None}
LINE = {"file": "/x/train.py", "line": 7, "name": "forward", "text": "f(x)"}


def read(name: str, *contents: dict[str, Any], damaged: int = 0) -> Process:
    process = process_of(STARTED, *(artifact(name, each) for each in contents))
    assert process.health.damaged_records == damaged
    return process


def verified(**more: Any) -> dict[str, Any]:
    known: dict[str, Any] = dict.fromkeys(
        ("why", "gradients", "worst", "first_wrong", "node", "node_unknown")
    )
    counts = {"graph": 1, "call": 2, "compared": 3, "against_float64": 1, "ns": 1_500_000_000}
    return {**known, **counts, "outcome": "agrees", **more}


def test_a_call_beside_eager_has_seconds_and_numbers_and_a_text_in_place_of_one_is_damage() -> None:
    node = {"name": "add", "target": "aten.add", "file": "/x/a.py", "line": 3, "comparison": VALUE}
    elsewhere = {**node, "file": None, "line": None, "comparison": None}
    full, bare = read(
        names.VERIFIED,
        verified(
            worst={**VALUE, "size": 4}, first_wrong={**VALUE, "error": None, "detail": "nan"}, node=node
        ),
        verified(node=elsewhere),
    ).interventions.verified
    value = ComparedValue("output 0", 1.0, 2.5, "eager", None)
    assert (full.seconds, full.compared, full.call) == (1.5, 3, 2)
    assert full.worst == ComparedValue("output 0", 1.0, 2.5, "eager", None, 4.0)
    assert full.first_wrong == ComparedValue("output 0", None, 2.5, "eager", "nan")
    assert full.node == WrongNode("add", "aten.add", Place("/x/a.py", 3), value)
    assert (bare.worst, bare.first_wrong) == (None, None)
    assert bare.node == WrongNode("add", "aten.add", None, None)
    assert read(names.VERIFIED, verified(worst={**VALUE, "allowed": "2.5"}), damaged=1) is not None


def test_an_outcome_that_there_is_not_is_damage() -> None:
    assert read(names.VERIFIED, verified(outcome="maybe"), damaged=1).interventions.verified == []
    compared = {"sizes": {"x": [2, 3]}, "outcome": "agrees", "compared": 1}
    (found,) = read(names.EXPORT_COMPARED, compared).export.comparisons
    assert (found.sizes, found.worst) == ({"x": (2, 3)}, None)
    assert read(names.EXPORT_COMPARED, {**compared, "outcome": "maybe"}, damaged=1).export.comparisons == []
    tried = {"kind": "export", "is_dynamic": True, "outcome": "done", "seconds": 1.0}
    for wrong in ({"kind": "maybe"}, {"outcome": "maybe"}):
        assert read(names.EXPORT_TRIED, {**tried, **wrong}, damaged=1).export.trials == []


@pytest.mark.parametrize(
    ("outcome", "error", "is_a_break"),
    [
        ("failed", "no", True),
        ("raised", "no", True),
        ("done", "no", False),
        ("crashed", "no", False),
        ("failed", None, False),
    ],
)
def test_an_export_that_failed_is_a_break_at_the_users_line(
    outcome: str, error: str | None, is_a_break: bool
) -> None:
    tried = {"kind": "export", "is_dynamic": True, "outcome": outcome, "seconds": 1.0, "error": error}
    with_line, without = read(names.EXPORT_TRIED, {**tried, "user_stack": [LINE]}, tried).export.trials
    assert (with_line.failed_at is not None, without.failed_at is not None) == (is_a_break, is_a_break)
    if with_line.failed_at is not None and without.failed_at is not None:
        assert with_line.failed_at.place == Place("/x/train.py", 7)
        assert (without.failed_at.stack, without.failed_at.reason) == ((), "no")


def test_what_a_trial_failed_with_is_read_as_torchs_explanation_wherever_that_was() -> None:
    error = "kind\n  Explanation: so.\n  Hint: none\n"
    tried = {"kind": "strict", "is_dynamic": False, "outcome": "failed", "seconds": 1.0, "error": error}
    (trial,) = read(names.EXPORT_TRIED, tried).export.trials
    assert trial.failed_at is not None and trial.failed_at.explanation is not None
    assert trial.failed_at.explanation.place == Place(UNKNOWN_FILE, 0)


def test_a_module_has_what_its_calls_were_given() -> None:
    noted = {
        "name": "Net",
        "file": "/x/a.py",
        "line": 3,
        "called_at": LINE,
        "training": True,
        "parameters": 5,
        "calls": 2,
        "other_forms": 1,
        "dynamic_shapes": None,
        "arguments": "(x,)",
        "dataclasses": ["B"],
        "inputs": [{"name": "x", "dtype": "float32", "sizes": [[2, 3], [4, 3]]}],
        "constants": [{"name": "n", "values": [1, "2"]}],
    }
    module = read(names.MODULE_TO_EXPORT, noted).export.called_module
    assert module is not None
    assert module.inputs == (InputSeen("x", "float32", ((2, 3), (4, 3))),)
    assert module.constants == (ConstantSeen("n", ("1", "2")),)
    assert (module.place, module.dataclasses) == (Place("/x/a.py", 3), ("B",))
    assert module.called_at == StackFrame(Place("/x/train.py", 7), "forward", "f(x)")
    for missing in ({"file": None}, {"line": None}):
        other = read(names.MODULE_TO_EXPORT, {**noted, **missing, "called_at": None}).export.called_module
        assert other is not None and other.place is None and other.called_at is None


def not_compiled(times: int, **more: Any) -> dict[str, Any]:
    reasons = [
        "0/0: n == 4",
        "no guard of an entry",
        "0/1: tensor 'x' size mismatch at index 0. expected 4, actual 5",
    ]
    return {"times": times, "name": "f", "file": "/x/a.py", "line": 3, "reasons": reasons, **more}


def test_a_frame_that_was_not_compiled_has_the_values_that_came_where_torch_does_not_name_them() -> None:
    (found,) = read(names.NOT_COMPILED, not_compiled(2, came=["5", None, "6"])).interventions.not_compiled
    assert [failure.actual for failure in found.failures] == ["5", "5"]  # the second is torch's own word
    assert (found.times, found.place) == (2, Place("/x/a.py", 3))
    (unknown,) = read(names.NOT_COMPILED, not_compiled(1)).interventions.not_compiled
    assert [failure.actual for failure in unknown.failures] == [None, "5"]
    (nowhere,) = read(names.NOT_COMPILED, {"times": 4, "line": 3}).interventions.not_compiled
    assert (nowhere.place, nowhere.reasons, nowhere.failures) == (None, None, ())
    assert read(names.NOT_COMPILED, not_compiled(1, came=["5"]), damaged=1).interventions.not_compiled == []


def test_the_same_that_is_met_again_is_counted_anew_and_other_reasons_are_another() -> None:
    other = not_compiled(1, reasons=["0/0: n == 9"])
    found = read(names.NOT_COMPILED, not_compiled(1), other, not_compiled(8)).interventions.not_compiled
    assert [each.times for each in found] == [8, 1]
    deferred = {"name": "f", "file": "/x/a.py", "line": 3, "times": 1}
    waits = read(
        names.FRAME_DEFERRED, deferred, {**deferred, "line": 4}, {**deferred, "times": 5}
    ).interventions.deferred
    assert waits == [Deferred("f", Place("/x/a.py", 3), 5), Deferred("f", Place("/x/a.py", 4), 1)]

"""What is in the way of an export: torch's words at a line, and what is known of them."""

from dataclasses import replace

from dynamo_core.exports.obstacles import obstacles
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.model import DraftedObstacle, ExportTrial, GraphBreak, Place, StackFrame

MODEL = "/home/user/model.py"


def failed(
    error: str, text: str | None, kind: str = "export", library: bool = False, outcome: str = "failed"
) -> ExportTrial:
    stack = [] if text is None else [StackFrame(Place(MODEL, 7), "forward", text)]
    if library:
        stack.append(StackFrame(Place("/venv/lib/python3.11/site-packages/gnn/conv.py", 3), "conv", "x"))
    broke = GraphBreak(error, tuple(stack), None)
    return ExportTrial(kind, False, outcome, 1.0, "UserError", error, broke, (), None)


DATA_DEPENDENT = "Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1))."


def test_a_branch_and_a_loop_have_other_advice() -> None:
    (branch,) = obstacles([failed(DATA_DEPENDENT, "if x.sum() > 0:")], [], None)
    (loop,) = obstacles([failed(DATA_DEPENDENT, "while x.sum() > 0:")], [], None)
    assert (branch.place, branch.source) == (Place(MODEL, 7), "if x.sum() > 0:")
    assert "torch.cond" in branch.remedies[0] and "while_loop" in loop.remedies[0]


def test_what_torch_says_without_a_line_is_said_at_the_line_of_the_same_cause() -> None:
    error = (
        "Constraints violated (L['x'].size()[0])! For more information, run with TORCH_LOGS.\n"
        "  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (4)."
    )
    (one,) = obstacles([failed(error, None), failed(error, "return x.reshape(4, -1)", "strict")], [], None)
    assert one.met_by == ("export", "strict")
    assert one.place == Place(MODEL, 7)
    assert "You marked L['x'].size()[0] as dynamic" in one.words


def test_a_failure_without_words_of_torchs_is_an_obstacle_at_its_line() -> None:
    (one,) = obstacles([replace(failed("", "f(x)"), error=None)], [], None)
    assert (one.place, one.words) == (Place(MODEL, 7), "UserError: no reason recorded")


def test_what_torch_says_without_a_line_stays_without_one_where_another_line_has_another_cause() -> None:
    of_a_size = "You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (4)."
    first, second = obstacles([failed(of_a_size, None), failed(DATA_DEPENDENT, "if x.sum() > 0:")], [], None)
    assert (first.place, second.place) == (None, Place(MODEL, 7))
    assert first.cause != second.cause


def test_two_lines_are_two_obstacles() -> None:
    drafted = DraftedObstacle(
        "DATA_DEPENDENT_ERROR", "u0 > 3", (StackFrame(Place(MODEL, 9), "forward", "y[:n]"),)
    )
    draft = ExportTrial("draft", False, "done", 1.0, None, None, None, (drafted,), None)
    first, second = obstacles([failed(DATA_DEPENDENT, "if x.sum() > 0:"), draft], [], None)
    assert (first.met_by, second.met_by) == (("export",), ("draft",))
    assert second.place == Place(MODEL, 9)


def test_the_users_line_leads_into_the_library() -> None:
    (one,) = obstacles([failed(DATA_DEPENDENT, "self.conv(x)", library=True)], [], None)
    assert one.place == Place(MODEL, 7)
    assert one.via is not None and one.via.function == "conv"


def test_a_type_that_torch_does_not_know_is_named() -> None:
    words = (
        "Found <class 'transformers.cache_utils.DynamicCache'> in output, which is not a known type.",
        "Encountered unrecognized type UserDefinedObjectVariable(DynamicCache) at output 1",
    )
    for each in words:
        (one,) = obstacles([failed(each, None)], [], None)
        assert one.cause.startswith("it returns a DynamicCache, ")


def test_a_module_that_raises_and_trials_that_ended_say_so() -> None:
    (raised,) = obstacles([failed("no", "raise ValueError", outcome="raised")], [], None)
    assert raised.cause == "the module itself raises UserError, without any export"
    slow = ExportTrial("export", False, "too long", 60.2, None, None, None, (), None)
    dead = ExportTrial("strict", False, "crashed", 1.0, None, "SIGSEGV", None, (), None)
    assert [each.cause for each in obstacles([slow, dead], [], None)] == [
        "the trial was ended after 60 s (--time-limit)",
        "the process of the trial ended: SIGSEGV",
    ]


def drafted(kind: str, words: str = "u0 > 3", line: str = "y[:n]") -> ExportTrial:
    stack = (StackFrame(Place(MODEL, 9), "forward", f"    {line}"),)
    return ExportTrial(
        "draft", False, "done", 1.0, None, None, None, (DraftedObstacle(kind, words, stack),), None
    )


def test_what_a_draft_met_has_the_advice_of_an_export_that_fails_for_it() -> None:
    (one,) = obstacles([drafted("DATA_DEPENDENT_ERROR")], [], None)
    (failing,) = obstacles([failed(DATA_DEPENDENT, "y[:n]")], [], None)
    assert (one.cause, one.remedies) == (failing.cause, failing.remedies)
    assert (one.place, one.function, one.source) == (Place(MODEL, 9), "forward", "y[:n]")
    assert one.words == "DATA_DEPENDENT_ERROR: u0 > 3"


def test_what_nobody_knows_of_a_draft_is_said_in_torchs_words() -> None:
    (one,) = obstacles([drafted("MISMATCHED_FOO_BAR")], [], None)
    assert (one.cause, one.remedies) == ("mismatched foo bar", ())


def test_of_a_break_only_edits_that_an_export_keeps_are_advised() -> None:
    remedies = (
        Remedy("setting", "set `a.b = True`", "dynamo breaks"),
        Remedy("edit", "use torch.where", "dynamo breaks"),
        Remedy("edit", "do it outside of the compiled function", "dynamo breaks"),
    )
    place = Place(MODEL, 7)
    evidence = Evidence(records=("Unsupported: print\nmore",))
    found = Finding(
        *("graph break", "graph-break-1", "graph break", "it prints", "", place, "forward", "print(x)", None),
        *(False, Cost(), evidence, remedies, ()),
    )
    (one,) = obstacles([], [found], None)
    assert (one.met_by, one.place, one.function, one.source) == (("compile",), place, "forward", "print(x)")
    assert (one.cause, one.remedies) == ("it prints", ("use torch.where",))
    assert one.words == "Unsupported: print"
    (silent,) = obstacles([], [replace(found, evidence=Evidence())], None)
    assert silent.words == ""
    in_library = failed(DATA_DEPENDENT, "print(x)", library=True)
    (via_library,) = obstacles([in_library], [found], None)
    assert via_library.via is not None and via_library.via.function == "conv", "the finding names none"
    # Where an export fails at the same line, the finding knows the cause best, and torch's words come first.
    (both,) = obstacles([failed(DATA_DEPENDENT, "print(x)")], [found], None)
    assert (both.met_by, both.cause) == (("export", "compile"), "it prints")
    assert both.words == f"UserError: {DATA_DEPENDENT}"

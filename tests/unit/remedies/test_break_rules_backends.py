"""What is advised where a backend raised an error: whose backend it is decides that."""

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice

HERE = Place("/home/me/train.py", 7)


def a_break(kind: str, explanation: str, line: str) -> GraphBreak:
    words = BreakExplanation(HERE, kind, explanation, (), None)
    return GraphBreak(kind, (StackFrame(HERE, "forward", line),), None, words, (), {HERE.line: line})


def advice(graph_break: GraphBreak) -> str:
    return " ".join(each.text for each in break_advice(graph_break, "2.13.0"))


def test_a_backend_that_has_to_know_a_size_is_not_to_be_replaced() -> None:
    why = "backend='inductor' raised:\nLoweringException: GuardOnDataDependentSymNode: Could not guard on …"
    assert "pass it in as a Python number" in advice(a_break("BackendCompilerFailed", why, "y = f(x)"))
    assert "aot_eager" in advice(a_break("BackendCompilerFailed", "no such operator", "y = f(x)"))


def test_the_author_of_a_backend_is_told_to_correct_it_and_what_another_one_would_show() -> None:
    met = a_break("BackendCompilerFailed", "backend='mine' raised:\nValueError: no", "y = f(x)")
    assert advice(met).startswith("correct the backend") and "would only show" in advice(met)
    (remedy,) = break_advice(met, "2.13.0")
    assert remedy.change is None
    others = a_break("BackendCompilerFailed", "backend='inductor' raised:\nValueError: no", "y = f(x)")
    assert advice(others).startswith("use another backend")

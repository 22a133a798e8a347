"""What is advised where torch meets what it does not trace, by what the user's line is for."""

import pytest

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice

HERE = Place("/home/me/train.py", 7)
QUEUE = Place("/usr/lib/python3.11/queue.py", 133)
TORCH = "/venv/lib/python3.11/site-packages/torch/"
SKIPPED = "Attempted to call function marked as skipped"
ITEM = ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "No `Tensor.item()`.")
NONZERO = ("Dynamic shape operator", "Operator `aten.nonzero.default`'s output.")
UNIQUE = ("Dynamic shape operator", "Operator `aten._unique2.default`'s output.")


def advice(kind: str, explanation: str, line: str, *inside: StackFrame) -> str:
    """All that is advised for a break on this line, or in what it calls."""
    stack = (StackFrame(HERE, "forward", line), *inside)
    words = BreakExplanation(stack[-1].place, kind, explanation, ("Use something else.",), None)
    return "\n".join(each.text for each in break_advice(GraphBreak(kind, stack, None, words), "2.13.0"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("kept.put(y)", "or after it, where it needs what `forward` calculates"),
        ("self.last = kept.put(y)", "or after it, where it needs what `forward` calculates"),
        ("n = kept.size(y)", "pass in what it returns"),
        ("for each in kept.all(y):", "make its body a function"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        (SKIPPED, ()),
        ("Unsupported method call", ()),
        ("Missing tp_iternext", ()),
        ("Unsupported context manager", (StackFrame(QUEUE, "put", "with self.lock:"),)),
    ],
)
def test_what_torch_does_not_trace_is_moved_by_what_its_line_is_for(
    kind: str, inside: tuple[StackFrame, ...], line: str, said: str
) -> None:
    assert said in advice(kind, "Dynamo does not know how.", line, *inside)


@pytest.mark.parametrize(
    ("words", "line", "called", "said"),
    [
        (ITEM, "y = self.norm(y)", "forward", "end the compiled function in front of"),
        (ITEM, 'name = f"{y:.2f}"', "__format__", "make the text after the call"),
        (ITEM, "self.averaged.update_parameters(net)", "update_parameters", "out of the compiled code"),
        (NONZERO, "loss = self.head(y)", "forward", "end the compiled function in front of"),
        (UNIQUE, "kinds = torch.unique(y)", "_return_output", "CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1"),
    ],
)
def test_what_torch_itself_looks_at_is_left_outside_unless_a_setting_traces_it(
    words: tuple[str, str], line: str, called: str, said: str
) -> None:
    inside = StackFrame(Place(f"{TORCH}nn/modules/module.py", 9), called, "")
    assert said in advice(*words, line, inside)


def test_a_property_that_is_kept_is_asked_for_before() -> None:
    inside = StackFrame(Place("/usr/lib/python3.11/functools.py", 995), "__get__", "with self.lock:")
    said = advice("Unsupported context manager", "No `RLock`.", "rays = self.grid @ pose", inside)
    assert "ask for the property once before the first call of `forward`" in said


def test_no_advice_switches_compiled_autograd_on_where_it_ends_the_program() -> None:
    kind = "Module-level backwards hooks require compiled autograd."
    assert "compiled_autograd" not in advice(kind, "Enable it by a setting.", "y = self.features(y)")

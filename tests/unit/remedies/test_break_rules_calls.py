"""What is advised where torch meets what it does not trace, by what the user's line is for."""

import pytest

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice

HERE = Place("/home/me/train.py", 7)
QUEUE = Place("/usr/lib/python3.11/queue.py", 133)
TORCH = "/venv/lib/python3.11/site-packages/torch/"
SKIPPED = "Attempted to call function marked as skipped"
ITEM = ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "No `Tensor.item()`.")
BRANCH = ("Data-dependent branching", "Detected data-dependent branching.")
COPY = ("Attempted to copy.deepcopy a tensor", "Dynamo does not support it.")
FREEZE = ("Unsupported Tensor.requires_grad_() call", "Dynamo does not support it.")
NONZERO = ("Dynamic shape operator", "Operator `aten.nonzero.default`'s output.")
UNIQUE = ("Dynamic shape operator", "Operator `aten._unique2.default`'s output.")


def advice(kind: str, explanation: str, line: str, *inside: StackFrame, around: str = "") -> str:
    """All that is advised for a break on this line, the last of `around` or in what it calls."""
    stack = (StackFrame(HERE, "forward", line), *inside)
    words = BreakExplanation(stack[-1].place, kind, explanation, ("Use something else.",), None)
    lines = around.splitlines()
    first = HERE.line - next((at for at, each in enumerate(lines) if each.strip() == line), 0)
    met = GraphBreak(kind, stack, None, words, (), dict(enumerate(lines, first)))
    return "\n".join(each.text for each in break_advice(met, "2.13.0"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("kept.put(y)", "or after it, where it needs what `forward` calculates"),
        ("self.last = kept.put(y)", "or after it, where it needs what `forward` calculates"),
        ("n = kept.size(y)", "and pass in what it gives, or what is made of that alone"),
        ("for each in kept.all(y):", "make its body a function"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        (SKIPPED, ()),
        ("Unsupported method call", ()),
        ("Missing tp_iternext", ()),
        ("torch.* op returned non-Tensor", ()),
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


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("self.ready", "self.ready"),
        ("not self.state.ready", "self.state.ready"),
        ("self.ready[0] == 1", "self.ready"),
        ("self.ready.item() == 0", "self.ready"),
        ("bool(self.ready)", "self.ready"),
        ("self.largest > x.max()", None),
        ("self.head(x).mean() > 0", None),
        ("x.flag == 1", None),
    ],
)
@pytest.mark.parametrize("words", [BRANCH, ITEM])
def test_what_an_object_keeps_in_a_tensor_to_be_asked_is_to_be_a_value_of_pythons(
    words: tuple[str, str], condition: str, kept: str | None
) -> None:
    said = advice(*words, f"if {condition}:")
    assert ("as a value of Python's" in said) == (kept is not None)
    assert kept is None or f"keep `{kept}` as" in said


@pytest.mark.parametrize(
    ("around", "is_left_out"),
    [
        ("if keep is not None and (keep == 0).any():\n    return keep.bool()\nreturn None", True),
        ("if not torch.any(lost):\n    return\nself.fill(lost)", True),
        ("if keep.all():\n    keep = None\ny = x", True),
        (
            "if torch.isnan(x).any():\n    return None\nreturn x",
            False,
        ),  # what is not finite is no work to save
        ("if x.sum() > 0:\n    return None\nreturn x", False),
        ("if keep.any():\n    x = x * keep\nreturn x", False),
    ],
)
def test_a_check_that_only_saves_work_is_left_out(around: str, is_left_out: bool) -> None:
    said = advice(*BRANCH, around.splitlines()[0], around=around)
    assert ("leave out the check" in said) == is_left_out


@pytest.mark.parametrize(
    ("head", "is_left"), [("while order.numel() > 0:", True), ("while n < 3:", False), ("for n in y:", False)]
)
def test_a_loop_that_tensors_end_is_left_to_python_for_a_break_in_it(head: str, is_left: bool) -> None:
    line = "best = boxes[order[0]]"
    said = advice(*ITEM, line, around=f"{head}\n    first = order[0]\n    {line}\n    order = order[1:]")
    assert (f"leave `{head}` to Python" in said) == is_left


@pytest.mark.parametrize(
    ("line", "comes_first"),
    [
        ("hit = self.cache.lookup(ids.tolist())", True),
        ("y = self.weights.first.split(counts.tolist())", False),
        ("y = x.split(counts.tolist())", False),
    ],
)
def test_what_python_works_on_is_done_outside_before_a_setting_moves_the_break(
    line: str, comes_first: bool
) -> None:
    assert advice(*ITEM, line).startswith(f"do `{line}` before the call") == comes_first


@pytest.mark.parametrize(
    ("words", "line", "file", "called", "said"),
    [
        (
            BRANCH,
            "small = all(r < t for r in rs)",
            "torch/_dynamo/polyfills/builtins.py",
            "all",
            "torch.stack",
        ),
        (COPY, "y = dataclasses.asdict(out)", "dataclasses.py", "asdict", "take the fields as they are"),
        (COPY, "other = copy.deepcopy(batch)", "copy.py", "deepcopy", "make the copy before the call"),
        (
            FREEZE,
            "critic.requires_grad_(False)",
            "torch/nn/modules/module.py",
            "requires_grad_",
            "freeze in front",
        ),
    ],
)
def test_what_is_called_decides_what_is_advised(
    words: tuple[str, str], line: str, file: str, called: str, said: str
) -> None:
    entered = StackFrame(Place(f"/venv/lib/python3.11/site-packages/{file}", 9), called, "")
    assert said in advice(*words, line, entered, entered._replace(function="inside"))


def test_a_property_that_is_kept_is_asked_for_before() -> None:
    inside = StackFrame(Place("/usr/lib/python3.11/functools.py", 995), "__get__", "with self.lock:")
    said = advice("Unsupported context manager", "No `RLock`.", "rays = self.grid @ pose", inside)
    assert "ask for the property once before the first call of `forward`" in said


def test_no_advice_switches_compiled_autograd_on_where_it_ends_the_program() -> None:
    kind = "Module-level backwards hooks require compiled autograd."
    assert "compiled_autograd" not in advice(kind, "Enable it by a setting.", "y = self.features(y)")


@pytest.mark.parametrize(
    ("caller", "line", "is_moved"),
    [
        ("self.tracker.note(loss)", "if loss < self.best:", True),
        ("kept = self.tracker.note(loss)", "if loss < self.best:", False),
        ("self.tracker.note(loss)", "if not self.is_ready:", False),  # a flag is better kept in Python
    ],
)
def test_a_helper_that_is_called_for_its_effect_is_called_outside(
    caller: str, line: str, is_moved: bool
) -> None:
    call, asked = StackFrame(Place(HERE.file, 20), "step", caller), StackFrame(HERE, "note", line)
    text = "take `self.tracker.note(loss)` out of the compiled code: do it after the call of `step`"

    def said(callers: tuple[StackFrame, ...], stack: tuple[StackFrame, ...]) -> str:
        words = BreakExplanation(HERE, *BRANCH, (), None)
        met = GraphBreak(BRANCH[0], stack, None, words, callers, {7: line, 8: "self.best = loss"})
        return break_advice(met, "2.13.0")[0].text

    assert (text in said((), (call, asked))) == is_moved
    assert text not in said((call,), (asked,)), "it is called by what is not compiled"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((SKIPPED, "The builtin `resource.getrusage`."), "peak = resource.getrusage(0).ru_maxrss"),
        (("Data dependent operator", "Operator `aten.allclose.default`."), "if not torch.allclose(a, b):"),
    ],
)
def test_of_what_torch_does_not_trace_the_helper_is_called_outside_too(
    words: tuple[str, str], line: str
) -> None:
    outer, asked = Place(HERE.file, 20), StackFrame(HERE, "note", line)
    told = BreakExplanation(HERE, *words, (), None)

    def said(*stack: StackFrame) -> str:
        return break_advice(GraphBreak(words[0], stack, None, told), "2.13.0")[0].text

    called, used = (StackFrame(outer, "step", text) for text in ("self.log.note(h)", "h = self.log.note(h)"))
    assert "take `self.log.note(h)` out of the compiled code" in said(called, asked)
    assert "self.log" not in said(used, asked), "its result is used"


RAISED = ("Observed exception", "Dynamo found no exception handler.")
SPARSE = (SKIPPED, "The builtin `torch._VariableFunctionsClass.sparse_coo_tensor`.")
VALUE = ("Data dependent operator", "Operator `aten._local_scalar_dense.default`.")
DRAWN = (SKIPPED, "The builtin `Random.random`.")


@pytest.mark.parametrize(
    ("words", "around", "line", "said"),
    [
        (RAISED, "", "n = self.frames.maxlen", "with all that works on that object"),
        (RAISED, "", "raise Found()", "and raise the exception after the call"),
        (SPARSE, "", "a = torch.sparse_coo_tensor(edges, value, (n, n))", "index_add"),
        (DRAWN, "", "if random.random() < p:", "pass in a tensor of what was drawn"),
        (DRAWN, "", "order = random.sample(range(n), 3)", "as one tensor"),
        (ITEM, "", "return math.exp(loss.item())", "`torch.exp(x)` in place of"),
        (VALUE, "", "return math.exp(loss)", "`torch.exp(x)` in place of"),
        (ITEM, "", "return math.sqrt(n) * loss.item()", "CAPTURE_SCALAR_OUTPUTS"),
        (BRANCH, "for k in range(3):\n    if ok(x):\n        return x", "if ok(x):", "not the loop"),
        (BRANCH, "if ok(x):\n    return x\nfor k in range(3):\n    if ok(x):", "if ok(x):", "not the loop"),
        (BRANCH, "if ok(x):\n    return x\nreturn -x", "if ok(x):", "torch.where"),
    ],
)
def test_what_a_line_is_for_decides_what_is_advised(
    words: tuple[str, str], around: str, line: str, said: str
) -> None:
    assert said in advice(*words, line, around=around)


PRINT = ("Failed to trace builtin operator", "builtin operator `print` with argument types ['str', 'Tensor']")


def test_of_a_function_that_is_called_nothing_is_printed_later() -> None:
    def of(*stack: StackFrame) -> str:
        met = GraphBreak(PRINT[0], stack, None, BreakExplanation(HERE, *PRINT, (), None))
        return "\n".join(each.text for each in break_advice(met, "2.13.0"))

    inner = StackFrame(HERE, "report", 'print("norm", x)')
    outer = StackFrame(Place(HERE.file, 20), "forward", "report(x)")
    assert "reorderable" in of(inner), "torch prints what the compiled function itself puts off"
    assert "reorderable" not in of(outer, inner) and "print after the call of `forward`" in of(outer, inner)


@pytest.mark.parametrize(
    ("line", "behind", "said"),
    [
        ("words = [names[i] for i in ids.tolist()]", "return words, best", "after the call of `forward`"),
        ("words = [names[i] for i in ids.tolist()]", "x = x + self.embed(words)", "SCALAR_OUTPUTS"),
        ("sizes = ids.tolist()", "return sizes", "SCALAR_OUTPUTS"),
        ('text = " ".join(names[i] for i in ids.tolist())', "use(text)", "make the text after the call"),
    ],
)
def test_what_python_looks_up_for_the_caller_alone_is_looked_up_behind_the_call(
    line: str, behind: str, said: str
) -> None:
    around = f"def forward(self, x):\n    {line}\n    {behind}\n"
    words = "Data dependent operator", "Operator `aten._local_scalar_dense.default`"
    assert said in advice(*words, line, around=around).splitlines()[0]


def test_a_report_every_so_often_is_taken_out_with_its_condition() -> None:
    def first(condition: str, line: str) -> str:
        around = f"def forward(self, x):\n    {condition}\n        {line}\n    return x\n"
        return advice(*PRINT, line, around=around).splitlines()[0]

    counted = "if self.calls % self.every == 0:"
    assert f"take `{counted}`" in first(counted, 'print("mean", x)')
    assert "take `if" not in first("if self.verbose:", 'print("mean", x)')
    assert "take `if" not in first(counted, "x = x + int(y)")


@pytest.mark.parametrize("words", [ITEM, NONZERO, ("x", "numpy function is not supported")])
def test_what_is_called_for_its_effect_is_taken_out_whatever_it_asks(words: tuple[str, str]) -> None:
    def of(call: str) -> str:
        stack = (StackFrame(Place(HERE.file, 20), "forward", call), StackFrame(HERE, "add", "n = count(x)"))
        met = GraphBreak(words[0], stack, None, BreakExplanation(HERE, *words, (), None))
        return "\n".join(each.text for each in break_advice(met, "2.13.0"))

    assert "take `self.counts.add(x)` out" in of("self.counts.add(x)")
    assert "out of the compiled code: do it after" not in of("y = self.counts.add(x)")


@pytest.mark.parametrize(
    ("around", "is_advised"),
    [
        ("loss = net(x)\nloss.backward()", True),
        ("scaled = scaler.scale(net(x))\nloss.backward()", False),
    ],
)
def test_a_backward_pass_of_a_scaled_loss_is_not_to_be_traced(around: str, is_advised: bool) -> None:
    kind, line = "Unsupported Tensor.backward() call", "loss.backward()"
    text = advice(kind, "Dynamo does not trace it.", line, around=around)
    assert ("trace_autograd_ops" in text) is is_advised
    assert "run the backward pass after its call" in text


@pytest.mark.parametrize(
    ("behind", "begin"),
    [
        ("return x.mean(0)", "where no later line"),
        ("return self.count", "put `with self.lock:` around the call"),
    ],
)
def test_what_a_lock_guards_is_put_off_only_where_nothing_behind_reads_it(behind: str, begin: str) -> None:
    around = f"with self.lock:\n    self.count = self.count + 1\n{behind}"
    said = advice("Unsupported context manager", "No such context.", "with self.lock:", around=around)
    assert said.startswith(begin)


def test_a_gradient_that_a_hook_asks_for_is_asked_for_before_the_call() -> None:
    line = "output.requires_grad_(True)"
    module = StackFrame(Place(f"{TORCH}nn/modules/module.py", 1821), "inner", "result = hook(self, args)")
    stack = (StackFrame(HERE, "forward", "y = self.body(x)"), module, StackFrame(HERE, "hook", line))
    said = break_advice(GraphBreak(FREEZE[0], stack, None, BreakExplanation(HERE, *FREEZE, (), None), ()))
    assert said[0].text.startswith("call `requires_grad_(True)` on the input")


@pytest.mark.parametrize(
    ("around", "is_copied"),
    [
        ("return x if x.data_ptr() % 16 == 0 else x.clone()", True),
        ("if x.data_ptr() % 16:\n    x = x.clone()\nreturn x", True),
        ("if x.data_ptr() % 16:\n    return fast(x)\nreturn x", False),
    ],
)
def test_what_is_copied_for_its_address_is_copied_always(around: str, is_copied: bool) -> None:
    said = advice("Observed exception", "TypeError", around.splitlines()[0], around=around)
    assert ("copy in every call" in said) == is_copied


@pytest.mark.parametrize(("first", "is_reported"), [("log.warning('odd')", True), ("x = x + 1", False)])
def test_what_a_branch_reports_is_to_be_reported_behind_the_call(first: str, is_reported: bool) -> None:
    around = f"    if torch.isnan(x).any():\n        {first}\n        x = x.nan_to_num()\n    return x"
    advised = advice(*BRANCH, "if torch.isnan(x).any():", around=around)
    assert "torch.where" in advised
    assert (f"`{first}` goes behind the call" in advised) is is_reported

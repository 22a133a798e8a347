"""Why a graph breaks, at which line of the user's, and what to do: from torch's words and the line alone."""

from dataclasses import replace

import pytest

from dynamo_core.analysis.source_lines import (
    attributes_given,
    call_on,
    changed_by,
    condition_of,
    constants_given,
    has_computed_message,
    is_made_of_conditions,
    joins_conditions,
    looked_up_in,
    targets_of,
    waiting_call,
)
from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import TABLE, break_advice, break_cause
from dynamo_core.remedies.expected import expected_break
from dynamo_core.remedies.rules import BreakContext, Rule, break_context_of, user_line
from support.places import BROKEN_PROGRAMS

HERE = Place("/home/me/train.py", 7)
JSON = Place("/usr/lib/python3.11/json/__init__.py", 231)
PACKAGE = Place("/venv/lib/python3.11/site-packages/careful/core.py", 3)
BRANCH = ("Data-dependent branching", "Detected data-dependent branching.")
ITEM = ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "No `Tensor.item()`.")
TORCH = "/venv/lib/python3.11/site-packages/torch/"
SKIPPED = "Attempted to call function marked as skipped"
PRINT = "Dynamo does not know how to trace builtin operator `print` with argument types {} (has_kwargs False)"


def a_break(
    kind: str, explanation: str, line: str, *inside: StackFrame, behind: tuple[str, ...] = ()
) -> GraphBreak:
    stack = (StackFrame(HERE, "forward", line), *inside)
    around = {HERE.line: line, **{HERE.line + 1 + n: text for n, text in enumerate(behind)}}
    words = BreakExplanation(stack[-1].place, kind, explanation, ("Use something else.",), None)
    return GraphBreak(kind, stack, None, words, (), around)


def advice(graph_break: GraphBreak, torch_version: str | None = "2.13.0") -> str:
    return break_advice(graph_break, torch_version)[0].text


@pytest.mark.parametrize("cause", TABLE, ids=lambda cause: cause.remedies[0].cures[0])
def test_every_treatment_names_programs_that_exist(cause: Rule[BreakContext]) -> None:
    assert cause.remedies
    for treatment in cause.remedies:
        for name in (*treatment.cures, *treatment.not_for):
            assert (BROKEN_PROGRAMS / f"{name}.py").is_file()
        assert not set(treatment.cures) & set(treatment.not_for)


@pytest.mark.parametrize(
    ("line", "condition"),
    [
        ("if y.sum() > 0:  # why", "y.sum() > 0"),
        ("elif y.any(): y = 1", "y.any()"),
        ("    while x.norm() > 1:", "x.norm() > 1"),
        ("z = a if y.mean() > 0 else b", "y.mean() > 0"),
        ('assert total > 0, f"it is {total}"', "total > 0"),
        ("if (y.sum() >", None),  # the beginning of a statement over several lines
        ("y = x.sin()", None),
        ("if " + "x" * 1000 + ":", None),
        ("if " + "-" * 250 + "x:", None),
    ],
)
def test_the_condition_of_a_line(line: str, condition: str | None) -> None:
    assert condition_of(line) == condition


def test_parts_of_a_line() -> None:
    assert is_made_of_conditions("if a.any() and b.any():")
    assert is_made_of_conditions("assert 0 < y.min() < 1")
    assert joins_conditions("return (x > 0).all() and not y.any()")
    assert not joins_conditions("return x is not None and x.any()")
    assert not joins_conditions("return x and y.any()")
    assert not joins_conditions("if x.any() and y.any():")
    assert has_computed_message('assert y.all(), "%s" % y')
    assert not has_computed_message('assert y.all(), "constant"')
    assert targets_of("first, self.x, second = x.tolist()") == ("first", "second")
    assert waiting_call("time.sleep(0.1)") == "time.sleep(0.1)"
    assert waiting_call("log(self.sleeper)") is None


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("SEEN.append(float(x))", ("SEEN",)),
        ("self.cache[key] = value", ("self.cache",)),
        ("del seen['a'], last", ("seen",)),
        ("self.seen += [x]", ("self.seen",)),
        ("seen = [*seen, x]", ()),
        ("y = torch.add(x, 1)", ("torch",)),  # harmless: no guard is on the length of a module
        ("SEEN.append(", ()),
    ],
)
def test_what_a_line_makes_longer_or_shorter(line: str, changed: tuple[str, ...]) -> None:
    assert changed_by(line) == changed


def test_constants_that_calls_of_a_function_give() -> None:
    line = "low, high = net.level(x, 0.10), level(x, share=-1 + n, name='high') or other(7)"
    assert constants_given(line, "level") == {"0.1", "high"}
    assert constants_given("level(", "level") == set()


def test_which_attributes_of_self_a_call_gives_is_known() -> None:
    line = "y = linear(x, rounded(self.weight, bits=self.bits), self.bias, other.scale)"
    assert attributes_given(line, "rounded") == {"weight", "bits"}
    assert attributes_given(line, "linear") == {"bias"}
    assert attributes_given(line, "scaled") == set()


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("before = self.tastes.get(listener, song)", "self.tastes"),
        ("return x * scales[listener]", "scales"),
        ("self.tastes[listener] = taste", "self.tastes"),
        ("if listener in self.tastes:", None),
        ("before = self.tastes.get(song, listener)", None),
        ("before = values[listener.number]", None),
        ("before = request.get(", None),
    ],
)
def test_what_is_asked_for_a_key_is_known(line: str, table: str | None) -> None:
    assert looked_up_in(line, "listener") == table


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        ("if self.is_known(x):", "keep `change.item() < 0.5` a tensor"),
        ("known = self.is_known(x)", "set `TORCH"),
    ],
)
def test_a_value_that_is_returned_to_a_branch_is_not_only_taken_into_the_graph(
    caller: str, said: str
) -> None:
    met = a_break(*ITEM, "return change.item() < 0.5")
    stack = (StackFrame(Place(HERE.file, 20), "forward", caller), *met.stack)
    assert said in advice(replace(met, stack=stack))


def test_a_branch_in_front_of_a_loop_is_of_the_loop_only_where_that_asks_the_same() -> None:
    line, loop = "if not torch.any(info):", ("        return x", "    while n < 3:", "        x = f(x)")
    alone = a_break(*BRANCH, line, behind=loop)
    assert "loop" not in advice(alone) and "loop" not in break_cause(alone, "2.13.0")
    again = a_break(*BRANCH, line, behind=(*loop, f"        {line}", "            return x"))
    assert "compile what the loop repeats" in advice(again)


def test_a_list_of_values_may_be_passed_in() -> None:
    first, second = break_advice(a_break(*ITEM, "sizes = lengths.tolist()"), "2.13.0")
    assert "CAPTURE_SCALAR_OUTPUTS" in first.text and "make the list before the call of" in second.text


def test_a_line_that_makes_a_list_longer_is_only_to_be_moved_out() -> None:
    line = "SEEN.append(x.sum().item())"
    (only,) = break_advice(a_break(*ITEM, line), "2.13.0", lengthened="SEEN")
    assert only.text.startswith(f"move `{line}` out of the compiled code")
    assert call_on("taken.append(time.time() - start)", frozenset({"time"})) == "time.time()"
    assert call_on("y = f(x) + g(x)", frozenset()) is None  # either could be meant


def test_a_line_of_a_stranger_is_not_executed_nor_formatted() -> None:
    line = "if __import__('os').abort() or '{line.__class__}':"
    text = advice(a_break(*BRANCH, line))
    assert "abort()" in text and "{line.__class__}" in text


@pytest.mark.parametrize(
    ("line", "behind", "said"),
    [
        ("if y.sum() > 0:", ("y = y * 2",), "`torch.where(y.sum() > 0, then, else)`"),
        ("if y.sum() > 0 and y.max() < 1:", ("y = y * 2",), "write `&` for `and`"),
        ("if y.isnan().any():", ("raise ValueError(y)",), "out of the compiled code"),
        ("while y.norm() > 1:", ("y = y / 2",), "make its body a function"),
        ("if y.argmax() == 2:", ("break",), "leave the loop to Python"),
        ("if y.argmax() == 2:", ("continue",), "calculate the rest of the pass always"),
        ("if rows.shape[0] == 0:", ("continue",), "with a mask"),
        ("if len(rows) > 1:", ("break",), "with a mask"),
        ("if near.all():", ("return x", "return x[:, near]"), "leave out the check, and select in every"),
        ("if near.any():", ("return x", "return x[near].max()"), "`torch.where(near.any()"),
        ('assert y.sum() > 0, f"{y}"', (), "constant text"),
        ("assert y.min() > 0 and y.max() < 1", (), "torch.logical_and"),
        ("assert y.sum() > 0", (), "in front of the call of `forward`"),
        ("", (), "`torch.where(condition, then, else)`"),
    ],
)
def test_one_reason_of_torchs_has_several_causes(line: str, behind: tuple[str, ...], said: str) -> None:
    assert said in advice(a_break(*BRANCH, line, behind=behind))


def test_a_size_beside_a_tensor_is_not_what_a_branch_depends_on() -> None:
    words = BreakExplanation(HERE, *BRANCH, (), None)
    line = "if y.sum() > x.shape[0]:"
    reason = "Data-dependent branching\n\n  Developer debug context: attempted to jump with {}()"
    met = GraphBreak(reason.format("TensorVariable"), (StackFrame(HERE, "forward", line),), None, words)
    assert "what a tensor holds" in break_cause(met)
    of_size = replace(met, reason=reason.format("SymNodeVariable"))
    assert "how much a condition on tensors selects" in break_cause(of_size)


@pytest.mark.parametrize(
    ("line", "behind", "said"),
    [
        ("scale = y.max().item()", ("y = y * scale",), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1"),
        ("scale = y.max().item()", ("return self.head(y / scale)",), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1"),
        ("n = int(y.sum())", ("for _ in range(n):",), "as a Python int"),
        ("total = y.sum().item()", ("if total > 0:",), "keep `total` a tensor"),
        ("if y.sum().item() > 0:", (), "`torch.where(y.sum() > 0, then, else)`"),
        ("if END in y:", (), "`torch.where((y == END).any(), then, else)`"),
        ("self.meter.update(y.sum().item())", (), "do it after the call of `forward`"),
        ("self.kept.fill_(y.sum().item())", (), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"),
        ("self.losses.append(y.sum().item())", (), "behind the call of `forward`"),
        ("losses.append(y.sum().item())", (), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1"),
        ("while y.sum().item() > 0:", (), "make its body a function"),
        ('name = f"{y.sum().item()}"', (), "after the call of `forward`"),
        ('self.seen[f"{name}/mean"] = y.sum().item()', (), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1"),
        ("self.total = self.total + y.sum().item()", (), "keep a tensor from call to call"),
        ("rows = int(np.ceil(x.shape[0] / 4))", (), "by Python's `math`"),
        ("strong = torch.rand(1).item() * 2", (), "draw the numbers before the call"),
    ],
)
def test_a_value_that_is_taken_out_is_told_from_one_that_is_branched_on(
    line: str, behind: tuple[str, ...], said: str
) -> None:
    assert said in advice(a_break(*ITEM, line, behind=behind))


@pytest.mark.parametrize(
    ("types", "is_put_off"), [("['str', 'Tensor']", True), ("['str', 'Size']", False), ("[]", True)]
)
def test_only_what_torch_can_put_off_is_printed_behind_the_graph(types: str, is_put_off: bool) -> None:
    met = a_break("Failed to trace builtin operator", PRINT.format(types), "print(y)")
    first = break_advice(met, "2.13.0")[0]
    assert ("reorderable_logging_functions" in first.text) == is_put_off
    assert (first.change is not None) == is_put_off


def test_a_print_with_keywords_is_not_put_off_as_torch_forgets_them() -> None:
    words = PRINT.format("['Tensor']").replace("has_kwargs False", "has_kwargs True")
    met = a_break("Failed to trace builtin operator", words, "print(y, end='')")
    assert advice(met).startswith("take `print(y, end='')` out of the compiled code")


def test_a_print_that_torch_was_to_put_off_and_cannot_is_moved_out() -> None:
    kind = "attempted to reorder a debugging function that can't actually be reordered"
    words = "`torch.compile` can only reorder functions where the arguments are Tensors."
    assert advice(a_break(kind, words, "print(n)")).startswith("take `print(n)` out of the compiled code")
    assert advice(a_break(kind, words, "warnings.warn(n)")) == "Use something else."


@pytest.mark.parametrize(
    ("line", "behind", "said"),
    [
        ("for i in (y > 0).nonzero():", (), "do not loop over what was found"),
        ("found = [x[i] for i in (y > 0).nonzero()]", (), "do not loop over what was found"),
        ("sums = [x[y > band].sum() for band in range(3)]", (), "CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1"),
        ("hits = (y > 0).nonzero()", ("for i in hits:",), "do not loop over what was found"),
        ("rows = y[y > 0]", ("if len(rows) == 0:",), "do not select rows"),
        ("rows = y[y > 0]", ("return rows.sum()",), "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS=1"),
    ],
)
def test_a_size_that_depends_on_values_is_not_captured_where_a_loop_or_a_branch_needs_it(
    line: str, behind: tuple[str, ...], said: str
) -> None:
    met = a_break("Dynamic shape operator", "Operator `aten.nonzero.default`'s output.", line, behind=behind)
    assert said in advice(met)


def test_a_setting_is_given_only_to_a_torch_that_has_it() -> None:
    met = a_break("Unsupported Tensor.backward() call", "No `Tensor.backward()`.", "loss.backward()")
    assert "trace_autograd_ops" in advice(met, "2.13.0+cpu")
    for version in ("2.10.1", None, "odd"):
        assert "trace_autograd_ops" not in advice(met, version)
        assert "after its call" in advice(met, version)


def test_a_break_inside_of_a_library_is_at_the_users_call_of_it() -> None:
    met = a_break(
        "Unsupported method call", "No `__new__`.", "key = json.dumps(x)", StackFrame(JSON, "dumps", "")
    )
    assert [frame.function if frame else None for frame in user_line(met)] == ["forward", "dumps"]
    assert break_context_of(met, None).library == "json"
    assert "`json.dumps(x)`" in advice(met)


def test_what_a_library_does_is_not_the_users_to_change() -> None:
    inside = StackFrame(PACKAGE, "positive", "if x.min() < 0:")
    met = a_break(*BRANCH, "y = careful.positive(y)", inside)
    assert break_cause(met) == (
        "`careful.positive(y)` leads into the library `careful`, which looks at what a tensor holds"
    )
    assert "torch.where" not in advice(met)


def test_a_library_that_compiles_itself_is_entered_outside_of_what_is_compiled() -> None:
    user = StackFrame(Place("/home/me/train.py", 9), "main", "y = careful.positive(y)")
    entered = StackFrame(PACKAGE, "positive", "return self.checked(x)")
    met = GraphBreak(
        "\n".join(BRANCH), (StackFrame(PACKAGE, "checked", "if x.min() < 0:"),), None, callers=(user, entered)
    )
    break_context = break_context_of(met, None)
    assert (break_context.line, break_context.entered, break_context.depth) == (user.text, "positive", 2)


def test_what_the_tables_do_not_know_is_said_in_torchs_words() -> None:
    met = a_break("odd", "Something\nodd.\n\nMore of it.", "y = odd(x)")
    assert break_cause(met) == "Something odd."
    assert advice(met) == "Use something else."


BY_TORCH = StackFrame(Place(f"{TORCH}optim/optimizer.py", 79), "_use_grad", "torch._dynamo.graph_break()")
REQUEST = ("Call to `torch._dynamo.graph_break()`", "User-inserted graph break. Message: None")
MARKED = "Dynamo developers have intentionally marked that the function `{}` in file `{}` should not …"


def test_a_break_that_torch_makes_in_its_own_code_is_expected() -> None:
    met = a_break(*REQUEST, "opt.step()", BY_TORCH)
    assert break_advice(met) == []
    assert break_cause(met) == "torch itself ends a graph in `opt.step()`, and goes on with another one"
    asked = a_break(*REQUEST, "torch._dynamo.graph_break()")
    assert expected_break(asked) is None and advice(asked) == "remove `torch._dynamo.graph_break()`."


def test_a_function_of_the_users_that_is_disabled_is_not_expected_where_torch_calls_it_by_a_polyfill() -> (
    None
):
    inside = StackFrame(Place(f"{TORCH}_dynamo/polyfills/__init__.py", 513), "instantiate", "")
    words = "Skip inlining function Mode.__init__ since it was wrapped with `torch.compiler.disable`"
    met = a_break("Skip inlining `torch.compiler.disable()`d function", words, "with Mode(0.5):", inside)
    assert expected_break(met) is None
    assert advice(met).startswith("remove the `torch.compiler.disable` from `Mode`")


def test_a_function_of_torchs_optimizers_that_torch_does_not_trace_is_expected() -> None:
    words = MARKED.format("Adam.step", f"{TORCH}optim/lr_scheduler.py")
    assert expected_break(a_break(SKIPPED, words, "step()")) is not None
    # The user's line may do without another function of torch's, or of the user's.
    for file in (f"{TORCH}hub.py", "/home/me/train.py"):
        assert expected_break(a_break(SKIPPED, MARKED.format("load", file), "load()")) is None


def test_a_function_of_torchs_that_the_users_line_leads_to_is_not_expected() -> None:
    inside = StackFrame(Place(f"{TORCH}distributions/distribution.py", 68), "__init__", "")
    words = MARKED.format("is_dependent", f"{TORCH}_internal.py")
    met = a_break(SKIPPED, words, "chosen = Categorical(logits=y)", inside)
    assert expected_break(met) is None and "validate_args=False" in advice(met)


def test_a_line_that_only_calls_what_is_compiled_is_not_moved_out_of_it() -> None:
    user = StackFrame(HERE, "<module>", "main()")
    inner = StackFrame(Place(f"{TORCH}_dynamo/external_utils.py", 69), "inner", "return fn(*args, **kwargs)")
    words = BreakExplanation(inner.place, SKIPPED, MARKED.format("f", "/home/me/f.py"), ("Avoid `f`.",), None)
    met = GraphBreak(SKIPPED, (inner,), None, words, (user,))
    assert break_advice(met) == []
    assert break_context_of(met, None).function is None
    assert "effect outside" not in break_cause(met)


def test_a_module_of_a_library_that_is_compiled_by_itself_is_left_to_python() -> None:
    user = StackFrame(HERE, "train", "out = compiled(x, target)")
    inner = StackFrame(Place(f"{TORCH}nn/modules/adaptive.py", 240), "forward", "rows = mask.nonzero()")
    words = BreakExplanation(inner.place, "Dynamic shape operator", "Operator `aten.nonzero`.", (), None)
    (given,) = break_advice(GraphBreak("Dynamic shape operator", (inner,), None, words, (user,)))
    assert given.text.startswith("do not compile what `compiled(x, target)` calls by itself")


def test_a_break_in_the_module_that_ddp_calls_is_on_its_own_line() -> None:
    ddp = StackFrame(Place(f"{TORCH}nn/parallel/distributed.py", 1715), "_run_ddp_forward", "")
    called = StackFrame(Place("/home/me/main.py", 3), "<module>", "model(x)")
    own = StackFrame(HERE, "forward", "print(y)")
    of_module = GraphBreak(PRINT.format("['Tensor']"), (own,), None, callers=(called, ddp))
    assert "`print` has an effect" in break_cause(of_module)
    of_ddp = GraphBreak("Unsupported method call", (ddp,), None, callers=(called,))
    assert "keeps its own accounts" in break_cause(of_ddp)
    assert "before it is wrapped" in break_advice(of_ddp)[0].text


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (
            ("if is_right:", "    raise ValueError('pad on the left')"),
            "the check of `is_right`, with its `raise`",
        ),
        (("if is_right:", "    x = x.flip(1)"), "keep `is_right` a tensor"),
        (("if other:", "    raise ValueError('pad on the left')"), "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS"),
    ],
)
def test_a_value_on_which_an_exception_depends_is_checked_outside(
    behind: tuple[str, ...], words: str
) -> None:
    assert words in advice(a_break(*ITEM, "is_right = mask[:, -1].sum().item() != 2", behind=behind))


@pytest.mark.parametrize(
    ("behind", "selects"),
    [
        (("    fits = place < most", "    x, place = x[fits], place[fits]"), True),
        (("    fits = place < most", "    x = torch.where(fits, x, 0)"), False),
        (("    first = place[0]", "    x = x[first]"), False),
    ],
)
def test_a_branch_that_selects_by_a_mask_is_left_out(behind: tuple[str, ...], selects: bool) -> None:
    branch = a_break(*BRANCH, "if counts.max() > most:", behind=behind)
    assert ("select no rows" in advice(branch)) is selects


@pytest.mark.parametrize(
    ("line", "is_filled"),
    [
        ("out = x.new_full((3, 4), fill)", True),
        ("out = torch.full_like(x, fill)", True),
        ("out = x.new_full((3, 4), fill.item())", False),
        ("y = torch.add(x, x, alpha=fill)", False),
    ],
)
def test_no_setting_is_advised_where_a_tensor_fills(line: str, is_filled: bool) -> None:
    """With the setting torch 2.13 ends the program with an error."""
    words = ("Data dependent operator", "Operator `aten._local_scalar_dense.default` has a non-Tensor output")
    assert ("expand(size)" in advice(a_break(*words, line))) is is_filled


@pytest.mark.parametrize(
    ("line", "is_known"),
    [
        ("for position in range(int(lengths.max())):", True),
        ("for position in range(count.item()):", False),
        ("places = torch.arange(lengths.max())", False),
    ],
)
def test_a_loop_up_to_the_largest_number_is_to_run_to_a_size(line: str, is_known: bool) -> None:
    assert ("to a size that is known" in advice(a_break(*ITEM, line))) is is_known


@pytest.mark.parametrize(
    ("operator", "alternative"),
    [
        ("repeat_interleave.Tensor", "output_size=n"),
        ("bincount.default", "scatter_add_"),
        ("_unique2.default", None),
        ("nonzero.default", "torch.topk"),
    ],
)
def test_what_is_advised_beside_the_setting_is_of_the_operator(
    operator: str, alternative: str | None
) -> None:
    words = (
        "Dynamic shape operator",
        f"Operator `aten.{operator}`'s output shape depends on input Tensor data.",
    )
    advice = break_advice(a_break(*words, "found = f(x)"), "2.13.0")
    (setting,) = (each for each in advice if "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS" in each.text)
    others = [each for each in advice if each is not setting]
    may_come_first = operator.startswith("repeat_interleave")  # an operator behind the setting may raise
    assert (advice[0] is setting) is not may_come_first
    assert [alternative in each.text for each in others if alternative] == [True] * bool(alternative)
    assert bool(others) is bool(alternative)


@pytest.mark.parametrize(
    ("behind", "is_moved"),
    [
        (("        self.filled.value = n", "    return x"), True),
        (("        self.filled.value += n", "        self.at = 0", "    return x"), True),
        (("        self.kept = n", "        x = x + 1", "    return x"), False),
        ((), False),
    ],
)
def test_a_block_that_only_sets_attributes_is_taken_out_with_its_context(
    behind: tuple[str, ...], is_moved: bool
) -> None:
    context = a_break("Unsupported context manager", "No lock.", "    with self.lock:", behind=behind)
    assert ("with all of its block" in advice(context)) is is_moved


def test_a_break_in_a_hook_on_a_tensor_is_told_of_the_line_that_registers_it() -> None:
    registers = StackFrame(Place("/home/me/train.py", 4), "forward", "x.register_hook(self.keep)")
    hook = StackFrame(Place("/home/me/train.py", 9), "keep", "self.kept = gradient")
    met = GraphBreak("HOP: Unsafe side effect", (registers, hook), None)
    assert user_line(met) == (registers, None)
    assert "`x.register_hook(self.keep)`" in break_advice(met)[0].text

"""What Python does with values of tensors: draws in a branch, searched lists, iterators from outside."""

import pytest

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice

BRANCH = ("Data-dependent branching", "Detected data-dependent branching.")
ITEM = ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "No `Tensor.item()`.")


def first(words: tuple[str, str], line: str, *behind: str) -> str:
    place = Place("/home/me/tree.py", 7)
    around = {7: line, **{8 + n: text for n, text in enumerate(behind)}}
    explained = BreakExplanation(place, *words, (), None)
    broken = GraphBreak(words[0], (StackFrame(place, "forward", line),), None, explained, (), around)
    return break_advice(broken, "2.13.0")[0].text


@pytest.mark.parametrize(
    "behind",
    [
        ("        x = x + torch.randn(4)", "    return x"),
        ("        x = x * 2", "    else:", "        x = torch.bernoulli(x)", "    return x"),
        ("        x = x + noise.normal_()",),
    ],
)
def test_what_is_drawn_in_a_branch_is_drawn_in_front(behind: tuple[str, ...]) -> None:
    assert first(BRANCH, "    if gate.sum() == 1:", *behind).startswith("decide and draw in front")


@pytest.mark.parametrize(
    "behind",
    [
        ("        x = x * 2", "    else:", "        x = x * 3", "    return x + torch.randn(4)"),
        ("        x = x * 2", "    y = torch.rand(4)"),
        ("        x = self.random_scale * x",),
    ],
)
def test_what_is_drawn_behind_the_branch_or_not_at_all_is_chosen_by_where(behind: tuple[str, ...]) -> None:
    assert "torch.where" in first(BRANCH, "    if gate.sum() == 1:", *behind).partition(";")[0]


def an_iterator(of: str) -> tuple[str, str]:
    return "missing tp_iter", f"Dynamo does not know how to iterate over `UserDefinedObjectVariable({of})`."


def test_a_list_takes_the_place_of_an_iterator_of_pythons() -> None:
    step = "        total = total + weight * member(x)"
    for of in ("zip", "map", "generator", "dict_itemiterator", "list_iterator"):
        assert first(an_iterator(of), "    for weight, member in pairs:", step).startswith(
            "make a list of it"
        )


def test_no_list_is_made_of_what_trains_or_is_the_users_own() -> None:
    trains = ("        loss = self.model(batch).sum()", "        loss.backward()")
    assert first(an_iterator("generator"), "    for batch in batches:", *trains).startswith(
        "compile what the loop"
    )
    own = first(an_iterator("Loader"), "    for batch in loader:", "        x = x + batch")
    assert own.startswith("compile what the loop repeats")


@pytest.mark.parametrize(
    "behind",
    ["    n = words.index(9)", "    if 9 in words:", "    longest = max(words)", "    w = sorted(words)"],
)
def test_a_list_in_which_python_looks_for_something_needs_more_than_the_setting(behind: str) -> None:
    assert first(ITEM, "    words = ids.tolist()", behind).startswith("leave the list to Python")


@pytest.mark.parametrize(
    "behind",
    ["    parts = x.split(words)", "    n = sum(words)", "    y = words[0]"],
)
def test_a_list_that_only_gives_sizes_is_part_of_the_graph(behind: str) -> None:
    assert "CAPTURE_SCALAR_OUTPUTS" in first(ITEM, "    words = ids.tolist()", behind)


def test_what_takes_a_tensor_is_given_it() -> None:
    assert first(ITEM, "    i = torch.searchsorted(edges, r.item())").startswith("leave out `.item()`")
    assert first(ITEM, "    i = torch.bucketize(r.item(), edges) + 1").startswith("leave out `.item()`")
    assert "CAPTURE_SCALAR_OUTPUTS" in first(ITEM, "    i = torch.searchsorted(edges, r) + n.item()")


@pytest.mark.parametrize(
    ("words", "line", "says"),
    [
        (
            (
                "C-implemented special method without VariableTracker model",
                "'zip' implements '__iter__' in C.",
            ),
            "    for weight, member in pairs:",
            "make a list of it",
        ),
        (
            ("Unsupported method call", "Dynamo does not know how to trace method `SemLock.__enter__`"),
            "    with self.lock:",
            "put `with self.lock:` around the call",
        ),
        (
            ("generator function over a skipped function", "Cannot trace a generator"),
            "    with torch.backends.mkldnn.flags(enabled=False):",
            "put `with torch.backends.mkldnn.flags(enabled=False):` around the call",
        ),
        (
            ("Unexpected type in sourceless builder", "cannot wrap <class 'odict_iterator'>"),
            "    learner = copy.deepcopy(self.learner)",
            "make the copy before the call",
        ),
    ],
)
def test_the_words_of_torch_2_15_lead_to_the_same_advice(
    words: tuple[str, str], line: str, says: str
) -> None:
    assert first(words, line).startswith(says)

"""Of what kind a part of a cache key is, how it is called, and how much of its value is shown."""

import pytest

from dynamo_core.caches.keys import PartDifference, differences, key_of_lines, part_setting


def differing(name: str, before: str | None, after: str | None) -> PartDifference:
    sides = (
        key_of_lines([] if text is None else [f"[{at}] {name}: {text}"])
        for at, text in enumerate((before, after))
    )
    first, second = sides
    (found,) = differences(first.differing(second))
    return found


@pytest.mark.parametrize(
    ("name", "kind", "label"),
    [
        ("inductor_config[max_fusion_size]", "setting", "max_fusion_size"),
        ("autocast_state[cpu]", "setting", "autocast on cpu"),
        ("default_dtype", "setting", "default dtype"),
        ("grad_enabled", "setting", "grad mode"),
        ("cache_key_tag", "setting", "cache_key_tag"),
        ("provenance_tracking_level", "setting", "provenance_tracking_level"),
        ("cpp_runtime_thread_count", "threads", "CPU threads"),
        ("system_info[device]", "machine", "system_info[device]"),
        ("default_cuda_device_index", "machine", "default_cuda_device_index"),
        ("joint_custom_pre_pass", "custom pass", "custom pass joint_custom_pre_pass"),
        ("_custom_partitioner_fn", "custom pass", "custom pass _custom_partitioner_fn"),
        ("custom_backend_passes", "custom pass", "custom pass custom_backend_passes"),
        ("what_is_new", "other", "what_is_new"),
    ],
)
def test_a_part_is_of_a_kind_and_called_as_people_call_it(name: str, kind: str, label: str) -> None:
    found = differing(name, "a", "b")
    assert (found.kind, found.sentence) == (kind, f"{label}: a → b")


def test_a_part_that_one_key_has_not_is_none_there_and_an_empty_one_is_shown() -> None:
    assert differing("what_is_new", None, "b").sentence == "what_is_new: none → b"
    assert differing("what_is_new", "a", None).sentence == "what_is_new: a → none"
    assert differing("what_is_new", "", "b").sentence == "what_is_new: '' → b"
    same = differing("what_is_new", "a", "a")
    assert same.sentence == "what_is_new differs in what torch's text of it does not show"


def test_of_long_values_what_differs_is_shown_with_a_little_before_it() -> None:
    exact = differing("what_is_new", "a" * 99 + "b", "a" * 99 + "c")
    assert exact.sentence == f"what_is_new: {'a' * 99}b → {'a' * 99}c"
    late = differing("what_is_new", "a" * 100 + "b", "a" * 100 + "c")
    assert late.sentence == f"what_is_new: …{'a' * 25}b → …{'a' * 25}c"
    early = differing("what_is_new", "x" + "a" * 100, "y" + "a" * 100)
    assert early.sentence == f"what_is_new: x{'a' * 99}… → y{'a' * 99}…"
    longer = differing("what_is_new", "a" * 101, "a" * 102)
    assert longer.sentence == f"what_is_new: …{'a' * 25} → …{'a' * 26}"


def test_the_setting_of_a_part_is_what_stands_in_its_brackets() -> None:
    assert part_setting("inductor_config[cpp.simdlen]") == "cpp.simdlen"
    assert part_setting("system_info[device]") is None
    assert part_setting("inductor_config") is None


def test_what_most_likely_caused_the_others_is_first_and_what_follows_only_where_alone() -> None:
    names = ["gm", "inductor_config[x]", "torch_version", "system_info[device]"]
    follows = "fx_kwargs[static_input_idxs]"

    def kinds(*parts: str) -> list[str]:
        before, after = (key_of_lines(f"[{at}] {name}: {at}" for name in parts) for at in "ab")
        return [each.kind for each in differences(before.differing(after))]

    assert kinds(*names, follows) == ["version", "machine", "setting", "graph"]
    assert kinds(follows) == ["setting"]


def test_autograds_settings_are_told_one_by_one_where_both_keys_have_them() -> None:
    def parts(before: tuple[str, ...], after: tuple[str, ...]) -> list[str]:
        first, second = (
            key_of_lines(f"[{at}] {name}: {at}" for name in names)
            for at, names in (("a", before), ("b", after))
        )
        return [each.part for each in differences(first.differing(second))]

    one = "autograd_config[x]"
    assert parts(("autograd_config", one), ("autograd_config", one)) == [one]
    assert parts(("autograd_config",), ("autograd_config", one)) == ["autograd_config"]


def graph_text(*lines: str) -> str:
    return "\n".join(["class G:", "def forward(self, a):", *lines])


def of_graphs(before: str, after: str) -> tuple[str, str]:
    found = differing("gm", before, after)
    return found.kind, found.sentence


def test_the_first_line_of_a_graph_that_differs_is_told_and_comments_are_no_lines() -> None:
    first = graph_text("# File: a.py:3", "b = f(a);  a = None", "", "return b")
    assert of_graphs(first, graph_text("# File: a.py:4", "b = f(a)", "return b"))[1].startswith(
        "the graph differs in what torch's text of it does not show"
    )
    assert of_graphs(first, graph_text("b = g(a)", "return b"))[1] == "the graph: `b = f(a)` → `b = g(a)`"
    assert of_graphs(first, graph_text("b = f(a)"))[1] == "the graph: `return b` → none"
    more = graph_text("b = f(a)", "c = 1", "return b")
    assert of_graphs(first, more)[1] == "the graph: none → `c = 1`"
    assert of_graphs(first, first.replace("class G", "class H"))[1].startswith("the graph differs in what")


def test_a_collective_of_another_group_is_told_from_one_that_differs_otherwise() -> None:
    before = graph_text("b = torch.ops._c10d_functional.all_reduce(a, 'sum', '0')")
    found = of_graphs(before, before.replace("'0'", "'7'"))
    assert found == ("process group", "process-group name: '0' → '7'")
    assert of_graphs(before, before.replace("(a,", "(c,"))[0] == "graph"
    plain = graph_text("b = f(a, 'sum')")
    assert of_graphs(plain, plain.replace("sum", "avg"))[0] == "graph"

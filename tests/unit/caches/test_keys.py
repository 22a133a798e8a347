"""What differs between two cache keys, in words; an address or a time is blamed on nothing else."""

import pytest

from dynamo_core.caches.bypasses import bypass_words
from dynamo_core.caches.keys import differences, key_of_lines, volatile_difference
from dynamo_core.model import CacheLookup

TENSOR = (
    "TensorMetadata(dtype=torch.float32, shape=torch.Size([8, 8]), stride=(8, 1), device=device(type='cpu'), "
    "layout=torch.strided, memory_format=torch.contiguous_format, storage_offset=0, storage_bytes=None, "
    "requires_grad=False, sparse_dim=None)"
)
GRAPH = """GraphModule()

def forward(self, primals_1, primals_2):
    mm = torch.ops.aten.mm.default(primals_1, primals_2);  primals_2 = None
    relu = torch.ops.aten.relu.default(mm);  mm = None
    return (relu,)
"""
PARTS = {
    "gm": GRAPH,
    "example_inputs[0]": TENSOR,
    "example_inputs[1]": TENSOR,
    "fx_kwargs[is_backward]": "False",
    "fx_kwargs[static_input_idxs]": "[]",
    "default_dtype": "torch.float32",
    "cpp_runtime_thread_count": "2",
    "torch_version": "\\x8f-_n6",
    "system_info[device]": "{'name': 'NVIDIA H200'}",
    "inductor_config[max_fusion_size]": "64",
    "inductor_config[cpp.simdlen]": "None",
    "autograd_config[functionalize_rng_ops]": "False",
    "autocast_state[cpu]": "torch.bfloat16",
    "post_grad_custom_post_pass": "pass 1",
}


def said(**changed: str | None) -> list[str]:
    """The sentences, where these parts of the later key are others, or (None) not there."""
    names = {name.replace("[", "__").replace("]", "").replace(".", "_"): name for name in PARTS}
    later = PARTS | {names[name]: text for name, text in changed.items() if text is not None}
    gone = {names[name] for name, text in changed.items() if text is None}
    before, after = (
        key_of_lines(
            f"[{abs(hash(text))}] {name}: {text}" for name, text in parts.items() if name not in absent
        )
        for parts, absent in ((PARTS, frozenset()), (later, gone))
    )
    return [difference.sentence for difference in differences(before.differing(after))]


@pytest.mark.parametrize(
    ("changed", "sentences"),
    [
        ({}, []),
        ({"inductor_config__max_fusion_size": "32"}, ["max_fusion_size: 64 → 32"]),
        ({"inductor_config__cpp_simdlen": "0"}, ["cpp.simdlen: None → 0"]),
        ({"autograd_config__functionalize_rng_ops": "True"}, ["functionalize_rng_ops: False → True"]),
        ({"cpp_runtime_thread_count": "1"}, ["CPU threads: 2 → 1"]),
        ({"default_dtype": "torch.float64"}, ["default dtype: torch.float32 → torch.float64"]),
        ({"autocast_state__cpu": None}, ["autocast on cpu: torch.bfloat16 → none"]),
        ({"autocast_state__cpu": "(False, torch.bfloat16)"}, ["autocast on cpu: torch.bfloat16 → none"]),
        (
            {"autocast_state__cpu": "(True, torch.float16)"},
            ["autocast on cpu: torch.bfloat16 → torch.float16"],
        ),
        (
            {"post_grad_custom_post_pass": "pass 2"},
            ["custom pass post_grad_custom_post_pass: pass 1 → pass 2"],
        ),
        ({"torch_version": "other"}, ["torch's own files differ"]),
        (
            {"system_info__device": "{'name': 'NVIDIA B200'}"},
            ["system_info[device]: {'name': 'NVIDIA H200'} → {'name': 'NVIDIA B200'}"],
        ),
        (
            {"example_inputs__0": TENSOR.replace("[8, 8]", "[8, 16]").replace("(8, 1)", "(16, 1)")},
            ["input 0: shape [8, 8] → [8, 16]"],
        ),
        ({"example_inputs__1": TENSOR.replace("(8, 1)", "(1, 8)")}, ["input 1: stride (8, 1) → (1, 8)"]),
        (
            {f"example_inputs__{i}": TENSOR.replace("'cpu'", "'cuda', index=0") for i in (0, 1)},
            ["2 inputs: device cpu → cuda:0"],
        ),
        ({"example_inputs__1": None}, ["input 1: float32 [8, 8] → none"]),
        (
            {"gm": GRAPH.replace("aten.relu", "aten.gelu").replace("(relu,)", "(gelu,)")},
            [
                "the graph: `relu = torch.ops.aten.relu.default(mm)` → "
                "`relu = torch.ops.aten.gelu.default(mm)`"
            ],
        ),
        (
            {"gm": GRAPH.replace("relu", "gelu"), "inductor_config__max_fusion_size": "32"},
            [
                "max_fusion_size: 64 → 32",
                "the graph: `relu = torch.ops.aten.relu.default(mm)` → "
                "`gelu = torch.ops.aten.gelu.default(mm)`",
            ],
        ),
        # What follows from something else is only said where it is all there is.
        ({"fx_kwargs__static_input_idxs": "[0]", "cpp_runtime_thread_count": "1"}, ["CPU threads: 2 → 1"]),
        ({"fx_kwargs__static_input_idxs": "[0]"}, ["static_input_idxs: [] → [0]"]),
    ],
)
def test_each_part_has_its_words(changed: dict[str, str | None], sentences: list[str]) -> None:
    assert said(**changed) == sentences


def test_a_process_group_is_told_from_another_graph() -> None:
    call = "all_reduce = torch.ops._c10d_functional.all_reduce.default(x, 'sum', 'tp:0')"
    before = key_of_lines([f"[a] gm: def forward(self, x):\n    {call}"])
    after = key_of_lines([f"[b] gm: def forward(self, x):\n    {call.replace('tp:0', 'tp:7')}"])
    (difference,) = differences(before.differing(after))
    assert difference.sentence == "process-group name: 'tp:0' → 'tp:7'"


def test_texts_do_not_count_where_the_hash_is_the_same() -> None:
    before, after = (
        key_of_lines([f"[a] fx_kwargs[f]: <function f at 0x7f247cde{end}>"]) for end in ("68", "70")
    )
    assert before.differing(after) == []


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("pass-0x7f247cde68e0", "pass-0x7f2480de68e0", "a memory address"),
        ("pass 140414564919312", "pass 139414564919999", "a memory address"),
        ("made 1795341225.9723", "made 1795341299.1", "a time"),
        ("1795341225972326981", "1795341225972326999", "a time"),
        ("2026-11-22 10:00:01", "2026-11-22T10:07:59.25", "a time"),
        ("id 6fa459ea-ee8a-4ca4-894e-db77e160355e", "id 16fd2706-8baf-433b-82eb-8c7fada847da", "a random id"),
        ("0x7f247cde68e0 at 1795341225", "0x7f247cde0000 at 1795341226", "memory addresses and times"),
        ("0x7f247cde68e0 of A", "0x7f247cde0000 of B", None),
        ("width 1024", "width 2048", None),
        ("seed 1234567890123", "seed 1234567890124", None),
        ("same", "same", None),
    ],
)
def test_what_passes_is_known(before: str, after: str, what: str | None) -> None:
    assert volatile_difference(before, after) == what


def test_an_address_is_blamed_on_nothing_else() -> None:
    before, after = (
        key_of_lines([f"[{end}] post_grad_custom_post_pass: <Pass at 0x7f247cde{end}>", "[x] gm: g"])
        for end in ("68e0", "70e0")
    )
    (difference,) = differences(before.differing(after))
    assert difference.kind == "unstable"
    assert difference.sentence == (
        "the key is unstable, custom pass post_grad_custom_post_pass holds a memory address: "
        "0x7f247cde68e0 → 0x7f247cde70e0"
    )


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("Unsupported post grad custom pass", "a custom pass (post grad) has no stable id"),
        (
            "Unsupported call_function target <function _enter_autocast>. \n Function module: "
            "torch.amp.autocast_mode, \nFunction name: _enter_autocast",
            "AOTAutograd's cache does not keep a graph in which `torch.autocast` is entered",
        ),
        (
            "Unsupported call_function target <built-in f>. \n Function module: mine.ops, \nFunction name: f",
            "AOTAutograd's cache does not know mine.ops.f",
        ),
        ("Can't cache HigherOrderOperator: flex", "the operator flex cannot be cached"),
        ("FX graph cache is not enabled", "AOTAutograd's cache needs the FX graph cache, which is off"),
        ("something  new\nof torch", "something new of torch"),
        (None, "torch does not say why"),
    ],
)
def test_why_a_cache_was_bypassed(reason: str | None, why: str) -> None:
    assert bypass_words(CacheLookup("fx_graph_cache", "bypass", None, reason=reason))[0] == why


@pytest.mark.parametrize(
    ("module", "what_to_do"),
    [
        ("mine.ops", "a custom operator"),
        ("torch._refs", ""),
        ("torch._dynamo.utils", "torch's"),
    ],
)
def test_nothing_is_to_be_made_of_a_function_that_torch_put_into_the_graph(
    module: str, what_to_do: str
) -> None:
    reason = f"Unsupported. \n Function module: {module}, \nFunction name: wrapped_ge"
    advised = bypass_words(CacheLookup("aot_autograd_cache", "bypass", None, reason=reason))[1]
    assert (advised is None) == (what_to_do == "") and what_to_do in (advised or "")

"""Why one look-up found nothing: which earlier one it is compared with, and what is said of that."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.caches.causes import FIRST_RUN, Cause, causes_of
from dynamo_core.caches.lookups import KnownKeys, Lookup
from dynamo_core.model import (
    Bytecode,
    CacheLookup,
    Caching,
    CompileId,
    Graph,
    Place,
    Process,
    ProcessInfo,
    ProcessState,
    Recording,
    Run,
    RunSettings,
)
from dynamo_core.shared.records import CachesInUse
from support.made import with_fields
from support.made_findings import graph

FIRST, SECOND, THIRD = (CompileId(number, 0) for number in range(3))
PARTS = {
    "gm": "def forward(): a",
    "inductor_config[max_fusion_size]": "64",
    "fx_kwargs[is_backward]": "False",
}


def lines(**changed: str) -> tuple[str, ...]:
    """A key's parts; in the names of those that are changed, brackets and dots are double underscores."""
    later = {
        name: changed.get(name.replace("[", "__").replace("]", ""), text) for name, text in PARTS.items()
    }
    later |= {name: text for name, text in changed.items() if name in ("torch_version", "default_dtype")}
    return tuple(f"[{text.encode().hex()[-60:]}] {name}: {text}" for name, text in later.items())


def looked_up(outcome: str = "miss", of: CompileId = FIRST, **more: object) -> CacheLookup:
    known = {"cache": "fx_graph_cache", "key": "k", "parts": lines(), **more}
    return CacheLookup(outcome=outcome, compile_id=of, **known)  # type: ignore[arg-type]


def folder(name: str = "/cache", **more: object) -> CachesInUse:
    known = {
        "triton_folder": None,
        "held_graphs": True,
        "is_writable": True,
        "free_bytes": None,
        "filesystem": "ext4",
        "in_container": False,
        "switches": {},
        **more,
    }
    return CachesInUse(folder=name, **known)  # type: ignore[arg-type]


def one(*lookups: CacheLookup, **more: object) -> Process:
    known = {"info": ProcessInfo(pid=1), "torch_version": "2.13.0", **more}
    return with_fields(Process(Path("s.log"), caching=Caching(lookups=list(lookups))), known)


def of(*processes: Process, config: list[str] | None = None) -> Recording:
    run = Run(exit_code=0, settings=RunSettings(config=config))
    return Recording(Path("rec"), run, list(processes), len(processes), [])


def explained(target: Recording, *earlier: Recording) -> tuple[tuple[Cause, ...], Lookup | None]:
    """Of the last look-up of a recording."""
    known = KnownKeys(target, earlier)
    return causes_of(known.target[-1], known)


def only(target: Recording, *earlier: Recording) -> Cause:
    (cause,), _ = explained(target, *earlier)
    return cause


OTHER_KEY: dict[str, Any] = {"key": "another", "parts": lines(inductor_config__max_fusion_size="32")}


def test_a_hit_needs_no_cause() -> None:
    assert explained(of(one(looked_up("hit"))), of(one(looked_up()))) == ((), None)


def test_a_bypass_has_torchs_reason_and_is_compared_with_nothing() -> None:
    cause = only(of(one(looked_up("bypass", reason="No shape env"))), of(one(looked_up())))
    assert (cause.kind, cause.what_to_do) == ("bypass", "compile through `torch.compile`.")


def test_what_its_own_compile_could_not_keep_was_never_written() -> None:
    reason = "Can't cache HigherOrderOperator: with_effects"
    missed = looked_up(cache="aotautograd_cache")
    bypassed = looked_up("bypass", key=None, reason=reason, bypassed_by="linalg_cholesky")
    process, earlier = one(bypassed, missed), of(one(missed, bypassed))
    cause = only(of(process), earlier)
    assert cause.kind == "bypass"
    assert cause.sentence.startswith("`torch.linalg.cholesky` raises an error for some inputs")
    assert "`torch.linalg.cholesky_ex`" in (cause.what_to_do or "")
    of_another = of(one(missed, replace(bypassed, compile_id=SECOND)))
    assert only(of(process), of_another).kind == "gone"


@pytest.mark.parametrize(
    ("reason", "operator", "why", "what_to_do"),
    [
        (
            "Can't cache HigherOrderOperator: with_effects",
            "inverse",
            "`inverse` raises",
            "`torch.linalg.inv_ex`",
        ),
        ("Can't cache HigherOrderOperator: with_effects", "_print", "`_print` has an effect", "of its own"),
        ("Can't cache HigherOrderOperator: with_effects", None, "the operator with_effects", "of its own"),
        (
            "Unsupported call_function target autograd_function_apply. \n Function module: torch.ops, \n"
            "Function name: autograd_function_apply",
            "autograd_function_apply",
            "AOTAutograd's cache does not keep a custom",
            "autograd_cache_allow_custom_autograd_functions = True",
        ),
    ],
)
def test_a_bypass_names_what_the_program_calls(
    reason: str, operator: str | None, why: str, what_to_do: str
) -> None:
    cause = only(of(one(looked_up("bypass", reason=reason, bypassed_by=operator))))
    assert cause.sentence.startswith(why)
    assert what_to_do in (cause.what_to_do or "")


def test_without_an_earlier_key_it_is_the_first_run_and_without_parts_it_is_not_known() -> None:
    assert only(of(one(looked_up()))) == FIRST_RUN
    unlike = of(one(looked_up(key="x", cache="aotautograd_cache")))
    assert only(of(one(looked_up())), unlike) == FIRST_RUN
    assert only(of(one(looked_up(parts=None))), unlike).kind == "not recorded"
    assert only(of(one(looked_up(parts=None)))) == FIRST_RUN


def test_an_entry_for_other_sizes_is_told_whether_or_not_its_key_is_known() -> None:
    missed = of(one(looked_up(detail="guard_miss")))
    assert only(missed).kind == "sizes"
    causes, same = explained(missed, of(one(looked_up())))
    assert [cause.kind for cause in causes] == ["sizes"] and same is not None


def test_of_look_ups_of_the_same_key_the_latest_of_an_earlier_run_is_compared_with() -> None:
    known = KnownKeys(of(one(looked_up(), looked_up())), [of(one(looked_up(of=SECOND), looked_up(of=THIRD)))])
    same = known.same_key(known.target[-1])
    assert same is not None and same.recorded.compile_id == THIRD
    here = KnownKeys(of(one(looked_up(), looked_up(of=SECOND), looked_up(of=THIRD))), [])
    same = here.same_key(here.target[-1])
    assert same is not None and same.recorded.compile_id == SECOND
    assert here.same_key(here.target[0]) is None
    none = KnownKeys(of(one(looked_up(key=None))), [of(one(looked_up(key=None)))])
    assert none.same_key(none.target[0]) is None


@pytest.mark.parametrize(
    ("mine", "its", "kind"),
    [
        (folder(), folder(), "gone"),
        (None, None, "gone"),
        (folder("/new"), folder(), "folder"),
        (folder("/new"), None, "gone"),
        (folder("/new"), folder(is_writable=False), "not kept"),
        (folder(free_bytes=0), folder("/old"), "not kept"),
    ],
)
def test_the_same_key_misses_where_the_folder_moved_or_lost_its_entry_or_never_kept_it(
    mine: CachesInUse | None, its: CachesInUse | None, kind: str
) -> None:
    sides = [of(one(looked_up(), in_use=[each] if each else [])) for each in (mine, its)]
    assert only(*sides).kind == kind


def test_a_folder_that_moved_is_named_as_it_was_and_as_it_is() -> None:
    cause = only(of(one(looked_up(), in_use=[folder("/new")])), of(one(looked_up(), in_use=[folder("/old")])))
    assert (cause.before, cause.after) == ("/old", "/new")
    assert cause.sentence.endswith("another: /old → /new")
    assert "`TORCHINDUCTOR_CACHE_DIR=/old`" in (cause.what_to_do or "")


def test_an_entry_that_is_gone_is_told_with_its_folder_and_why_that_does_not_last() -> None:
    fleeting = folder(filesystem="tmpfs")
    sentence = only(of(one(looked_up(), in_use=[fleeting])), of(one(looked_up()))).sentence
    assert "in /cache (kept in memory" in sentence
    assert only(of(one(looked_up())), of(one(looked_up()))).sentence.endswith("not there any more")


def test_processes_of_one_run_race_in_one_folder_and_miss_in_folders_of_their_own() -> None:
    def two(first: CachesInUse, second: CachesInUse) -> Cause:
        return only(of(one(looked_up(), in_use=[first]), one(looked_up(), in_use=[second])))

    assert two(folder(), folder()).kind == "race"
    apart = two(folder("/a"), folder("/b"))
    assert (apart.kind, apart.before, apart.after) == ("folder", "/a", "/b")
    assert only(of(one(looked_up()), one(looked_up()))).kind == "race"
    assert only(of(one(looked_up(), looked_up()))).kind == "gone"  # the same process


def test_a_setting_that_differs_is_told_with_both_values() -> None:
    cause = only(of(one(looked_up())), of(one(looked_up(**OTHER_KEY))))
    assert (cause.kind, cause.part) == ("setting", "inductor_config[max_fusion_size]")
    assert (cause.before, cause.after, cause.set_by) == ("32", "64", None)


@pytest.mark.parametrize(
    ("now", "before", "set_by"),
    [
        ({"config": ["inductor.max_fusion_size=64"]}, {}, "--config"),
        ({}, {"config": ["inductor.max_fusion_size=32"]}, "--config of the earlier run"),
        ({"config": ["inductor.max_fusion=64"]}, {}, None),
        (
            {"environment": {"TORCH_MAX_FUSION_SIZE": "64"}},
            {},
            "the environment variable TORCH_MAX_FUSION_SIZE",
        ),
        (
            {},
            {"environment": {"TORCH_MAX_FUSION_SIZE": "32"}},
            "the environment variable TORCH_MAX_FUSION_SIZE",
        ),
        ({"environment": {"TORCH_FUSION_SIZE": "64"}}, {}, None),
        ({"environment": {"A_MAX_FUSION_SIZE": "1"}}, {"environment": {"A_MAX_FUSION_SIZE": "1"}}, None),
        ({"changed": True}, {}, "the program"),
        ({}, {"changed": True}, "the program in the earlier run"),
    ],
)
def test_who_set_a_setting_is_the_side_that_shows_it(
    now: dict[str, object], before: dict[str, object], set_by: str | None
) -> None:
    def side(known: dict[str, object], **lookup: Any) -> Recording:
        changed = {"torch._inductor.config": {"max_fusion_size": "1"}} if "changed" in known else None
        process = one(
            looked_up(**lookup),
            info=ProcessInfo(pid=1, environment=known.get("environment")),  # type: ignore[arg-type]
            state=ProcessState(torch_config=changed),
        )
        return of(process, config=known.get("config"))  # type: ignore[arg-type]

    assert only(side(now), side(before, **OTHER_KEY)).set_by == set_by


@pytest.mark.parametrize(
    ("version", "builds", "sentence"),
    [
        ("2.12.0", ("a", "b"), "torch: 2.12.0 → 2.13.0"),
        ("2.13.0", ("a", "b"), "torch's own files differ, though both are 2.13.0 (builds a and b)"),
        ("2.13.0", ("a", "a"), "torch's own files differ, though both are 2.13.0"),
    ],
)
def test_another_torch_is_told_by_its_version_or_else_its_build(
    version: str, builds: tuple[str, str], sentence: str
) -> None:
    infos = [ProcessInfo(pid=1, torch_git=build) for build in builds]
    earlier = looked_up(key="x", parts=lines(torch_version="x"))
    now = looked_up(parts=lines(torch_version="y"))
    before = of(one(earlier, torch_version=version, info=infos[0]))
    cause = only(of(one(now, info=infos[1])), before)
    assert (cause.kind, cause.sentence) == ("version", sentence)


def test_keys_that_differ_in_nothing_that_is_listed_say_so() -> None:
    assert only(of(one(looked_up())), of(one(looked_up(key="x")))).kind == "not recorded"


def source(*texts: str) -> tuple[Graph, Bytecode]:
    at = Place("/home/me/train.py", 3)
    code = Bytecode(FIRST, "f", "f", at, "", {3 + n: text for n, text in enumerate(texts)}, (), ())
    return graph(1, FIRST, frame_place=at), code


def edited(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, str]:
    def side(texts: tuple[str, ...], lookup: CacheLookup) -> Recording:
        made, code = source(*texts)
        return of(one(lookup, graphs=[made], bytecodes=[code]))

    earlier = looked_up(key="x", parts=lines(gm="def forward(): b"))
    cause = only(side(after, looked_up()), side(before, earlier))
    return cause.kind, cause.sentence


def test_another_graph_comes_of_an_edit_whose_first_line_is_told() -> None:
    kind, told = edited(("def f(x):", "  return x"), ("def f(x):", "  y = x", "  return y"))
    assert (kind, told) == ("source", "the source of forward was edited, train.py:4: `return x` → `y = x`")
    _, told = edited(("def f(x):", "  return x"), ("def f(x):", "  print(x)", "  return x"))
    assert told == "the source of forward was edited, train.py:4: `print(x)` is new"
    _, told = edited(("def f(x):", "  print(x)", "  return x"), ("def f(x):", "  return x"))
    assert told == "the source of forward was edited: `print(x)` is gone"


def test_lines_that_only_moved_or_are_not_known_are_no_edit() -> None:
    same = ("def f(x):", "  return x")
    assert edited(same, ("def f(x):", "      return x"))[0] == "graph"
    assert edited((), same)[0] == "graph"
    assert edited(same, ())[0] == "graph"
    assert edited(("a", "b"), ("b", "a"))[0] == "graph"


def test_the_nearest_key_is_of_an_earlier_run_and_differs_in_the_fewest_parts() -> None:
    far = looked_up(of=SECOND, key="x", parts=lines(inductor_config__max_fusion_size="1", default_dtype="y"))
    near = looked_up(of=THIRD, key="y", parts=lines(inductor_config__max_fusion_size="2"))
    for order in ((far, near), (near, far)):
        _, nearest = explained(of(one(looked_up())), of(one(*order)))
        assert nearest is not None and nearest.recorded.compile_id == THIRD


def test_of_equally_near_keys_the_latest_counts_and_one_of_the_other_direction_never_does() -> None:
    near = [
        looked_up(of=each, key=str(each), parts=lines(inductor_config__max_fusion_size="1"))
        for each in (SECOND, THIRD)
    ]
    _, nearest = explained(of(one(looked_up())), of(one(*near)))
    assert nearest is not None and nearest.recorded.compile_id == THIRD
    backward = looked_up(key="b", parts=lines(fx_kwargs__is_backward="True"))
    assert only(of(one(looked_up())), of(one(backward))) == FIRST_RUN


def test_within_a_run_the_same_frame_or_an_equal_graph_of_the_process_is_compared_with() -> None:
    fusion = lines(inductor_config__max_fusion_size="1")
    another_graph = lines(gm="def forward(): c")
    assert only(of(one(looked_up(key="x", parts=fusion), looked_up()))).kind == "setting"
    assert only(of(one(looked_up(of=SECOND, key="x", parts=fusion), looked_up()))).kind == "setting"
    assert only(of(one(looked_up(key="x", parts=another_graph), looked_up()))).kind == "graph"
    assert only(of(one(looked_up(of=SECOND, key="x", parts=another_graph), looked_up()))) == FIRST_RUN
    assert only(of(one(looked_up(key="x", parts=fusion)), one(looked_up()))) == FIRST_RUN


def test_parts_that_were_listed_with_another_look_up_of_the_key_are_known() -> None:
    unlisted = of(one(looked_up(parts=None)))
    earlier = of(one(looked_up(key="x", parts=lines(inductor_config__max_fusion_size="1"))))
    assert only(unlisted, earlier).kind == "not recorded"
    listed = of(one(looked_up("hit", of=SECOND, cache="aotautograd_cache"), looked_up(parts=None)))
    assert only(listed, earlier).kind == "setting"


@pytest.mark.parametrize(("pgo", "kind"), [("hit", "pgo"), ("miss", "input")])
def test_an_input_that_is_dynamic_from_the_start_is_so_by_pgo_where_its_state_was_read(
    pgo: str, kind: str
) -> None:
    def tensor(size: str) -> tuple[str, ...]:
        text = f"TensorMetadata(dtype=torch.float32, shape=torch.Size([{size}, 8]), requires_grad=False)"
        return (*lines(), f"[{size}] example_inputs[0]: {text}")

    state = looked_up(pgo, cache="pgo", key=None, parts=None)
    target = of(one(state, looked_up(parts=tensor("s0"))))
    assert only(target, of(one(looked_up(key="x", parts=tensor("8"))))).kind == kind

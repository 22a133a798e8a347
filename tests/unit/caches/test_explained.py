"""What a run shows of torch's caches by itself: what was off, where they lay, what was compiled twice."""

import pytest

from dynamo_core.caches.causes import (
    FIRST_RUN,
    DisabledCache,
    OtherLayer,
    caches_of,
    disabled_caches,
    folder_problem,
    kernels_built,
    next_start,
    other_layers,
    unreadable_bundles,
    vanishes,
)
from dynamo_core.caches.explained import CacheReport, explain_caches
from dynamo_core.caches.lookups import EqualGraphs, equal_graphs
from dynamo_core.model import (
    CacheLookup,
    CompileId,
    CountedLayer,
    Graph,
    LayerCount,
    Phase,
    ProcessInfo,
    Recording,
)
from dynamo_core.shared.early_records import CacheBundleUsed
from dynamo_core.shared.records import CachesInUse
from support.made import S, compiled, of_one_process
from support.made_findings import graph

FIRST, SECOND, THIRD = (CompileId(0, number) for number in range(3))


def caches(**more: object) -> CachesInUse:
    known = {
        "folder": "/cache",
        "triton_folder": None,
        "held_graphs": True,
        "is_writable": True,
        "free_bytes": None,
        "filesystem": "ext4",
        "in_container": False,
        "switches": {},
        **more,
    }
    return CachesInUse(**known)  # type: ignore[arg-type]


def looked_up(
    outcome: str, of: CompileId = FIRST, cache: str = "fx_graph_cache", **more: object
) -> CacheLookup:
    return CacheLookup(cache, outcome, of, **more)  # type: ignore[arg-type]


def keyed(number: int, key: str | None, seconds: float | None, **more: object) -> Graph:
    return graph(number, CompileId(0, number), key=key, backend_seconds=seconds, **more)


def test_equal_graphs_would_have_cost_the_costliest_alone_and_the_most_costly_group_is_first() -> None:
    graphs = [
        keyed(1, "a", 1.0),
        keyed(2, "b", 5.0, ops=9),
        keyed(3, "a", 3.0),
        keyed(4, "b", 5.0),
        keyed(5, "b", None),
        keyed(6, "c", 9.0),
        keyed(7, None, 9.0),
        keyed(8, None, 9.0),
        keyed(9, "d", None),
        keyed(10, "d", None),
    ]
    assert list(equal_graphs(of_one_process(graphs=graphs))) == [
        EqualGraphs("forward", 9, 3, 10.0, 5.0),
        EqualGraphs("forward", 3, 2, 4.0, 1.0),
        EqualGraphs("forward", 3, 2, None, None),
    ]


def off(switches: dict[str, str], environment: dict[str, str] | None = None) -> list[DisabledCache]:
    recording = of_one_process(
        info=ProcessInfo(pid=1, environment=environment),
        in_use=[caches(switches=switches)],
        graphs=[
            keyed(0, "a", 1.0),
            keyed(1, "b", 2.0),
            keyed(2, "c", None),
            keyed(3, "d", 9.0, is_compiled=False),
        ],
        lookups=[looked_up("hit", FIRST), looked_up("miss", SECOND, "aotautograd_cache")],
    )
    return [each for _, each in disabled_caches(recording)]


ALL = "torch.compiler.config.force_disable_caches"
OF_GRAPHS = "torch._inductor.config.fx_graph_cache"
OF_AUTOGRAD = "torch._functorch.config.enable_autograd_cache"


def test_a_cache_that_is_off_costs_what_the_backend_took_where_it_was_not_asked() -> None:
    (graphs,) = off({OF_GRAPHS: "False"})
    assert (graphs.cache, graphs.compiles, graphs.lost_seconds) == ("the FX graph cache", 2, 2.0)
    assert graphs.sentence == f"the FX graph cache is off, by {OF_GRAPHS}"
    assert graphs.what_to_do == f"leave `{OF_GRAPHS}` as it is by default."
    (autograd,) = off({OF_AUTOGRAD: "False"})
    assert (autograd.compiles, autograd.lost_seconds) == (2, 1.0)


def test_the_widest_switch_is_told_with_the_variable_that_set_it() -> None:
    every = {ALL: "True", OF_GRAPHS: "False"}
    (found,) = off(every, {"TORCH_COMPILE_FORCE_DISABLE_CACHES": "1"})
    assert (found.setting, found.compiles, found.lost_seconds) == (ALL, 1, None)
    assert (
        found.sentence
        == "all caches are off, by the environment variable TORCH_COMPILE_FORCE_DISABLE_CACHES=1"
    )
    assert found.what_to_do == "unset `TORCH_COMPILE_FORCE_DISABLE_CACHES`."


def test_what_is_on_or_not_recorded_is_not_off() -> None:
    assert off({ALL: "False", OF_GRAPHS: "True", OF_AUTOGRAD: "None"}) == []
    assert list(disabled_caches(of_one_process())) == []


@pytest.mark.parametrize(
    ("known", "problem"),
    [
        ({"is_writable": False, "free_bytes": 0}, "nothing can be written to /cache"),
        ({"is_writable": None}, None),
        ({"free_bytes": (1 << 20) - 1}, "the disk of /cache is full"),
        ({"free_bytes": 1 << 20}, None),
    ],
)
def test_a_folder_is_no_good_where_an_entry_cannot_be_written(
    known: dict[str, object], problem: str | None
) -> None:
    said = folder_problem(caches(**known))
    assert said is None if problem is None else (said or "").startswith(problem)
    assert folder_problem(None) is None


@pytest.mark.parametrize(
    ("known", "word"),
    [
        ({"filesystem": "tmpfs"}, "memory"),
        ({"filesystem": "ramfs", "in_container": True}, "memory"),
        ({"filesystem": "overlay", "in_container": True}, "container"),
        ({"filesystem": "overlay"}, None),
        ({"folder": "/tmp/x", "in_container": True}, "container"),
        ({"folder": "/var/tmp/x", "in_container": True}, "container"),
        ({"folder": "/tmp/x"}, None),
        ({"folder": "/data/tmp/x", "in_container": True}, None),
    ],
)
def test_a_folder_is_gone_by_the_next_run_where_it_is_in_memory_or_in_the_container(
    known: dict[str, object], word: str | None
) -> None:
    said = vanishes(caches(**known))
    assert said is None if word is None else word in (said or "")
    assert vanishes(None) is None


def test_where_caches_moved_the_last_folder_is_theirs() -> None:
    (process,) = of_one_process(in_use=[caches(), caches(folder="/later")]).processes
    found = caches_of(process)
    assert found is not None and found.folder == "/later"
    assert caches_of(of_one_process().processes[0]) is None


def compiler(seconds: float, of: CompileId = FIRST, *, ended: bool = True) -> Phase:
    inner = Phase("compile_file", S, S + int(seconds * S) if ended else None, of)
    return Phase("dynamo", S, 100 * S, of, children=(inner,))


def built(phases: list[Phase], lookups: list[CacheLookup], **more: object) -> float | None:
    found = kernels_built(of_one_process(phases=phases, lookups=lookups, **more))
    return None if found is None else found.seconds


HIT = [looked_up("hit")]


def test_the_compiler_is_news_where_all_of_a_compile_was_found_and_it_took_half_a_second() -> None:
    assert built([compiler(0.5)], HIT) == 0.5
    assert built([compiler(0.49)], HIT) is None
    assert built([compiler(0.25), compiler(0.5)], HIT) == 0.75
    assert built([compiler(2, ended=False)], HIT) is None
    assert built([compiler(2)], [*HIT, looked_up("miss")]) is None
    assert built([compiler(2, SECOND)], HIT) is None
    assert built([compiler(2)], []) is None


def test_a_header_that_was_there_is_only_looked_at_and_one_that_was_not_is_named() -> None:
    there = caches(header_folder="/h", held_header=True)
    assert built([compiler(2)], HIT, in_use=[there]) is None
    gone = caches(header_folder="/h", held_header=False)
    found = kernels_built(of_one_process(phases=[compiler(2)], lookups=HIT, in_use=[gone, there]))
    assert found is not None and (found.header_folder, found.held_header) == ("/h", False)
    assert found.sentence.endswith("the header that Inductor precompiles was not in /h")
    unknown = kernels_built(of_one_process(phases=[compiler(2)], lookups=HIT))
    assert unknown is not None and (unknown.header_folder, unknown.held_header) == (None, None)
    assert "header" not in unknown.sentence


@pytest.mark.parametrize(
    ("headers", "packed"),
    [
        (None, "-C '/my cache' ."),
        ("/my cache/precompiled_headers", "-C '/my cache' ."),
        ("/else where/headers", "-C '/my cache' . -C '/else where' headers"),
    ],
)
def test_caches_are_packed_with_the_headers_that_lie_elsewhere(headers: str | None, packed: str) -> None:
    used = caches(folder="/my cache", header_folder=headers)
    pack, unpack = next_start(of_one_process(in_use=[used]))
    assert pack == f"tar -czf torch-caches.tar.gz {packed}"
    assert unpack.startswith("mkdir -p ")
    assert next_start(of_one_process()) == ()


def layer(recording: Recording, name: str) -> OtherLayer:
    return next(each for each in other_layers(recording) if each.name.startswith(name))


def count(of: CountedLayer, hits: int | None, misses: int | None, **more: object) -> LayerCount:
    return LayerCount(of, FIRST, hits, misses, **more)  # type: ignore[arg-type]


def test_counts_of_a_cache_are_added_over_compiles_and_what_is_not_counted_is_none() -> None:
    remote = [count("remote_fx_graph_cache", 1, 0, took_seconds=1.5), count("remote_fx_graph_cache", 2, None)]
    bundles = [count("triton_bundle", 1, None), count("triton_bundle", 3, None)]
    tuned = [count("triton_autotuning", 1, 2, unasked=1)]
    recording = of_one_process(counts=[*remote, *bundles, *tuned, count("remote_pgo", None, None)])
    found = layer(recording, "remote FX")
    assert (found.hits, found.misses, found.took_seconds) == (3, 0, 1.5)
    assert (found.sentence or "").startswith("3 hits, 0 misses, 1.5")
    assert layer(recording, "Triton kernels").sentence == "came with 4 graphs from the cache"
    said = layer(recording, "autotuning").sentence
    assert said == "1 hit, 2 misses, 1 kernel with one configuration, not looked up"
    state = layer(recording, "remote PGO")
    assert (state.hits, state.misses, state.took_seconds, state.sentence) == (None, None, None, "")


def test_a_cache_without_counts_is_off_only_where_every_process_says_so() -> None:
    name = "torch._inductor.config.autotune_local_cache"
    on, without = caches(switches={name: "True"}), caches(switches={name: "False"})
    recording = of_one_process(in_use=[without])
    assert layer(recording, "autotuning").switched_off_by == name
    assert layer(recording, "remote FX").switched_off_by is None
    assert layer(of_one_process(), "autotuning").switched_off_by is None
    recording.processes += of_one_process(in_use=[on]).processes
    assert layer(recording, "autotuning").switched_off_by is None
    counted = of_one_process(in_use=[without], counts=[count("triton_autotuning", 1, 0)])
    assert layer(counted, "autotuning").switched_off_by is None


def test_bundles_say_what_was_in_them_and_which_could_not_be_read() -> None:
    used = [
        CacheBundleUsed(action="loaded", bytes=10, artifacts=None, seconds=0.5),
        CacheBundleUsed(action="saved", bytes=None, artifacts=None, seconds=0.25),
        CacheBundleUsed(action="saved", bytes=None, artifacts={}, seconds=1.0),
        CacheBundleUsed(action="loaded", bytes=None, artifacts={"inductor": 1200, "pgo": 1}, seconds=2.0),
    ]
    recording = of_one_process(bundles=used)
    found = layer(recording, "bundles")
    unread, unsaved, empty, full = (found.sentence or "").split("; ")
    assert (unread, unsaved) == ("loaded: torch could not read it", "saved: nothing to save")
    assert empty.startswith("saved: empty, 1") and full.startswith("loaded: 1,200 inductor, 1 pgo, 2")
    assert found.took_seconds == 3.75
    assert unreadable_bundles(recording.processes[0]) == 1
    none = layer(of_one_process(), "bundles")
    assert (none.sentence, none.took_seconds) == (None, None)


def explained(*lookups: CacheLookup, **more: object) -> CacheReport:
    return explain_caches(of_one_process(lookups=list(lookups), **more))


def test_the_verdict_is_by_what_was_off_then_by_what_was_missed() -> None:
    disabled = [caches(switches={ALL: "True"})]
    assert explained(looked_up("miss"), in_use=disabled).verdict == "off"
    assert explained().verdict == explained(looked_up("disabled")).verdict == "nothing recorded"
    assert explained(looked_up("hit")).verdict == "warm"
    assert explained(looked_up("hit"), looked_up("miss", SECOND)).verdict == "first run"
    assert explained(looked_up("hit"), looked_up("bypass", SECOND)).verdict == "cold"


def test_what_a_miss_cost_is_inductors_time_or_else_the_backends() -> None:
    graphs = [graph(1, FIRST, backend_seconds=9.0), graph(2, SECOND, backend_seconds=3.0)]
    found = explained(looked_up("miss", took_seconds=2.0), looked_up("miss", SECOND), graphs=graphs)
    assert (found.lost_seconds, found.misses) == (5.0, 2)
    (reason,) = found.reasons
    assert (reason.compiles, reason.misses, reason.causes) == (2, 2, (FIRST_RUN,))
    assert explained(looked_up("miss")).lost_seconds is None


def test_what_hits_saved_is_the_larger_of_the_layers_and_not_their_sum() -> None:
    inner = [looked_up("hit", number, saved_seconds=1.0) for number in (FIRST, SECOND)]
    outer = looked_up("hit", THIRD, "aotautograd_cache", saved_seconds=1.5)
    found = explained(*inner, outer)
    assert found.saved_seconds == 2.0
    assert [(each.hits, each.saved_seconds, each.took_seconds) for each in found.layers] == [
        (1, 1.5, None),
        (2, 2.0, None),
    ]
    assert explained(looked_up("hit")).saved_seconds is None


def test_what_is_known_to_be_wrong_comes_before_what_is_new_whatever_that_cost() -> None:
    found = explained(
        looked_up("miss", took_seconds=9.0),
        looked_up("bypass", SECOND, reason="constant folding", took_seconds=1.0),
        looked_up("bypass", THIRD, reason="No shape env", took_seconds=2.0),
    )
    assert [reason.lost_seconds for reason in found.reasons] == [2.0, 1.0, 9.0]
    assert "; and 2 more reasons (1 miss, 2 bypasses, 12" in found.sentence


def test_the_costliest_compiles_are_five_with_their_share_of_all_compiling() -> None:
    compiles = [compiled(number, 1.0) for number in range(6)] + [compiled(3, 3.0)]
    costly = explained(compiles=compiles).costliest
    assert [each.compile_id for each in costly] == ["0/3", "0/0", "0/1", "0/2", "0/4"]
    assert costly[0].seconds == 4.0
    assert costly[0].share == pytest.approx(4 / 9)
    assert explained(compiles=[compiled(0, 0.0)]).costliest == ()


def test_each_folder_is_told_once_with_whether_it_held_graphs_at_first() -> None:
    recording = of_one_process(in_use=[caches(held_graphs=False), caches(filesystem="tmpfs")])
    recording.processes += of_one_process(in_use=[caches()]).processes
    recording.processes += of_one_process().processes
    (folder,) = explain_caches(recording).folders
    assert (folder.folder, folder.held_graphs, folder.problem) == ("/cache", False, None)
    assert folder.vanishes is not None

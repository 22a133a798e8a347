"""When compiling that torch's caches could have saved is worth a finding, and what that says."""

from pathlib import Path
from typing import Any

import pytest

from dynamo_core.findings import Cost, Finding, find
from dynamo_core.model import (
    CacheLookup,
    Caching,
    CompileId,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Run,
    StackFrame,
)
from dynamo_core.shared.early_records import CacheBundleUsed
from dynamo_core.shared.records import CachesInUse
from support.made import with_fields
from support.made_findings import graph

FIRST, SECOND = CompileId(0, 0), CompileId(1, 0)


def folder(name: str = "/cache", **more: object) -> CachesInUse:
    known: dict[str, object] = dict.fromkeys(("triton_folder", "held_graphs", "free_bytes", "filesystem"))
    known |= {"is_writable": True, "in_container": False, "switches": {}, **more}
    return CachesInUse(folder=name, **known)  # type: ignore[arg-type]


def lookup(outcome: str = "miss", of: CompileId = FIRST, **more: object) -> CacheLookup:
    known = {"cache": "fx_graph_cache", "key": "k", **more}
    return CacheLookup(outcome=outcome, compile_id=of, **known)  # type: ignore[arg-type]


def one(*lookups: CacheLookup, seconds: float = 1.0, pid: int = 1, **more: object) -> Process:
    graphs = [graph(1, FIRST, backend_seconds=seconds), graph(2, SECOND, backend_seconds=0.0)]
    known = {"info": ProcessInfo(pid=pid), "torch_version": "2.13.0", "graphs": graphs, **more}
    return with_fields(Process(Path(f"{pid}.log"), caching=Caching(lookups=list(lookups))), known)


def found(kind: str, *processes: Process) -> list[Finding]:
    recording = Recording(Path("rec"), Run(exit_code=0), list(processes), len(processes), [])
    return [finding for finding in find(recording) if finding.kind == kind]


def test_a_start_is_cold_where_nothing_was_a_hit_however_long_the_backend_took() -> None:
    (cold,) = found(
        "cold start", one(lookup(), lookup(of=SECOND), lookup("bypass", cache="aotautograd_cache"))
    )
    assert cold.cause == "look-ups in the FX graph cache: 2 misses, AOTAutograd cache: 1 bypass"
    assert cold.title == "nothing came from torch's caches, and the backend took 1.00 s"
    short, long = (found("cold start", one(lookup(), seconds=took))[0] for took in (0.01, 9.0))
    assert (short.identity, short.cost.lost.seconds) == (long.identity, 0.01), (
        "no load of the machine decides"
    )
    unknown = one(lookup(), graphs=[graph(1, FIRST)])
    (not_timed,) = found("cold start", unknown)
    assert (not_timed.title, not_timed.cost) == ("nothing came from torch's caches", Cost())
    assert found("cold start", one(lookup(), lookup("hit", SECOND))) == []
    assert found("cold start", one()) == []


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"in_use": [folder()]}, None),
        ({"in_use": [folder(is_writable=False)]}, "nothing can be written to /cache"),
        ({"in_use": [folder(filesystem="tmpfs")]}, "/cache is kept in memory"),
        ({"in_use": [folder(is_writable=False, filesystem="tmpfs")]}, "nothing can be written to /cache"),
        (
            {
                "in_use": [folder(is_writable=False)],
                "bundles": [CacheBundleUsed(action="loaded", bytes=1, artifacts=None, seconds=0.1)],
            },
            "torch could not read a bundle",
        ),
    ],
)
def test_a_cold_start_has_what_is_wrong_with_the_folder(more: dict[str, Any], problem: str | None) -> None:
    (cold,) = found("cold start", one(lookup(), **more))
    _, has_problem, told = cold.cause.partition("; ")
    assert told.startswith(problem) if problem is not None else not has_problem
    (remedy,) = cold.remedies
    assert ("outlives the run" in remedy.text) is (problem is not None)


def test_a_bypass_is_worth_a_word_from_a_second_on_and_not_where_the_cache_is_off() -> None:
    bypass = lookup("bypass", reason="No shape env")
    (kept_out,) = found(
        "cache bypass", one(bypass, lookup("bypass", cache="aotautograd_cache", reason="No shape env"))
    )
    assert "1 graph cannot be kept in torch's caches" in kept_out.title
    assert kept_out.cause.startswith("the FX graph cache and the AOTAutograd cache did not take it")
    assert found("cache bypass", one(bypass, seconds=0.99)) == []
    off = folder(switches={"torch._inductor.config.fx_graph_cache": "False"})
    assert found("cache bypass", one(bypass, in_use=[off])) == []


def test_a_bypass_is_at_the_line_of_what_bypasses() -> None:
    line = StackFrame(Place("train.py", 7), "", "return torch.linalg.cholesky(a)")
    bypass = lookup(
        "bypass",
        reason="Can't cache HigherOrderOperator: with_effects",
        bypassed_by="linalg_cholesky",
        bypassed_at=line,
    )
    (kept_out,) = found("cache bypass", one(bypass))
    assert (kept_out.place, kept_out.source) == (line.place, line.text)
    assert "at train.py:7: `torch.linalg.cholesky` raises" in kept_out.title


def test_a_cache_that_is_off_is_worth_a_word_however_long_the_backend_took() -> None:
    off = folder(switches={"torch._inductor.config.fx_graph_cache": "False"})
    (switched,) = found("caches off", one(in_use=[off]))
    assert switched.evidence.times == 2
    assert len(found("caches off", one(in_use=[off], seconds=0.01))) == 1
    assert found("caches off", one(in_use=[folder()])) == []


def by_several(*processes: Process) -> list[Finding]:
    return [each for each in found("cold start", *processes) if "processes compiled the same" in each.title]


def took(seconds: float | None, pid: int, key: str | None = "k", **more: object) -> Process:
    return one(lookup(took_seconds=seconds, key=key), pid=pid, seconds=0.0, **more)


def test_a_graph_that_several_processes_compiled_was_needed_once_and_that_the_dearest_time() -> None:
    (several,) = by_several(took(5.0, 1), took(1.0, 2), took(0.5, 3))
    assert several.title.startswith("3 processes compiled the same 1 graph")
    assert several.cost.lost is not None and several.cost.lost.seconds == 1.5
    assert several.evidence.times == 3
    assert by_several(took(5.0, 1), took(0.99, 2)) == []
    assert by_several(took(5.0, 1), took(5.0, 2, key="other")) == []
    assert by_several(took(5.0, 1), took(None, 2)) == []
    assert by_several(took(5.0, 1, key=None), took(5.0, 2, key=None)) == []
    twice = one(lookup(took_seconds=5.0), lookup(of=SECOND, took_seconds=5.0), seconds=0.0)
    assert by_several(twice) == []


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        (folder(), folder(), "each looked in the cache before another had stored the graph there"),
        (folder("/a"), folder("/b"), "each has a cache folder of its own"),
        (folder("/a"), folder("/b", is_writable=False), "nothing can be written to /b"),
    ],
)
def test_why_each_compiled_it_is_told_by_where_their_caches_were(
    first: CachesInUse, second: CachesInUse, cause: str
) -> None:
    (several,) = by_several(took(2.0, 1, in_use=[first]), took(2.0, 2, in_use=[second]))
    assert several.cause == cause

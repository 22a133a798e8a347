"""Bundles of caches that a program saves or loads are recorded, and the program gets what torch gave."""

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.capture.probes import cache_bundles


class Written(list[dict[str, Any]]):
    """What a stream would have got."""

    def record(self, record: Any, *_: object) -> None:
        self.append(record.payload())


def compiler_with(saved: Any, loaded: Any) -> tuple[Any, Written]:
    """A stand-in for torch.compiler with the probe in it, and what that writes."""
    compiler: Any = ModuleType("compiler")
    compiler.save_cache_artifacts = lambda: saved
    compiler.load_cache_artifacts = lambda serialized_artifacts: loaded
    written = Written()
    stream: Any = written
    parts: Any = SimpleNamespace(probes=ProbeGuard(stream))
    cache_bundles.install(compiler, parts)
    return compiler, written


def info(**artifacts: list[str]) -> SimpleNamespace:
    return SimpleNamespace(artifacts=artifacts)


def test_what_is_in_a_bundle_is_counted_by_kind() -> None:
    saved, loaded = (b"12345", info(inductor=["a", "b"], pgo=["c"])), info(inductor=["a"])
    compiler, written = compiler_with(saved, loaded)
    assert compiler.save_cache_artifacts() is saved
    assert compiler.load_cache_artifacts(serialized_artifacts=b"123") is loaded
    assert [(each["action"], each["bytes"], each["artifacts"]) for each in written] == [
        ("saved", 5, {"inductor": 2, "pgo": 1}),
        ("loaded", 3, {"inductor": 1}),
    ]
    assert all(each["seconds"] >= 0 for each in written)


def test_none_stays_none() -> None:
    compiler, written = compiler_with(None, None)
    assert compiler.save_cache_artifacts() is None
    assert compiler.load_cache_artifacts(b"123") is None
    assert [(each["action"], each["artifacts"]) for each in written] == [("saved", None), ("loaded", None)]


@pytest.mark.parametrize("odd", [SimpleNamespace(), SimpleNamespace(artifacts=7)])
def test_another_torch_harms_nothing(odd: Any) -> None:
    compiler, written = compiler_with(None, odd)
    assert compiler.load_cache_artifacts(b"123") is odd
    assert [each.get("probe") for each in written] == ["bundles of caches"]

"""The tracing probe on a tracer of our own: what it adds up, however a function is left."""

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.capture.probes import tracing_time
from dynamo_core.shared.names import LINES_TRACED, TRACING_TIME
from dynamo_core.shared.our_record import OurRecord


class Tracer:
    """torch's InstructionTranslatorBase, as far as the probe sees it: `body` is what the function does."""

    def __init__(self, code: Any, body: Callable[[], None]) -> None:
        self.f_code = code
        self.body = body

    @contextmanager
    def run_ctx_mgr(self) -> Iterator[None]:
        yield

    def run(self) -> None:
        with self.run_ctx_mgr():
            self.body()


class Stream:
    """Keeps the records."""

    def __init__(self) -> None:
        self.records: list[tuple[str, Any]] = []

    def record(self, record: OurRecord, compile_id: Any = None) -> None:
        self.records.append((record.NAME, record.payload()))


class Clock:
    """Goes on when told."""

    now = 0

    def __call__(self) -> int:
        return self.now

    def spend(self, nanoseconds: int) -> None:
        self.now += nanoseconds


class World:
    """A tracer with the probe on it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.stream = Stream()
        self.root = type("InstructionTranslator", (Tracer,), {})
        self.inlined = type("InliningInstructionTranslator", (Tracer,), {"run_ctx_mgr": Tracer.run_ctx_mgr})
        self.output = type("OutputGraph", (), {"mark_bytecode_tracing_stop": lambda self: None})
        base = type("InstructionTranslatorBase", (Tracer,), {})
        module = ModuleType("symbolic_convert")
        for kind in (base, self.root, self.inlined, self.output):
            setattr(module, kind.__name__, kind)
        # As in torch, the root translator inherits the method and the inlining one has its own.
        base.run_ctx_mgr = Tracer.run_ctx_mgr  # type: ignore[attr-defined]
        self.root.__bases__ = (base,)
        parts = SimpleNamespace(probes=ProbeGuard(cast(Any, self.stream)))
        tracing_time.install(module, cast(Any, parts))

    def frame(self, name: str, body: Callable[[], None]) -> None:
        self.root(self._code(name), body).run()

    def inline(self, name: str, body: Callable[[], None]) -> None:
        self.inlined(self._code(name), body).run()

    def spend(self, nanoseconds: int) -> None:
        self.clock.spend(nanoseconds)

    @staticmethod
    def _code(name: str) -> Any:
        return SimpleNamespace(
            co_name=name,
            co_qualname=name,
            co_filename="/usr/site-packages/x.py" if name == "of_a_library" else "/x.py",
            co_firstlineno=1,
            co_lines=lambda: [(0, 2, 1), (2, 4, None), (4, 6, 3)],
        )

    def told(self, attempt: int = 0) -> dict[str, tuple[int, int, int]]:
        """Calls, inclusive and exclusive ns of each function of an attempt."""
        payload = [payload for name, payload in self.stream.records if name == TRACING_TIME][attempt]
        return {f["name"]: (f["calls"], f["inclusive_ns"], f["exclusive_ns"]) for f in payload["functions"]}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(tracing_time, "perf_counter_ns", made.clock)
    monkeypatch.setattr(tracing_time, "current_compile_id", dict)
    return made


def test_time_belongs_to_the_innermost_function(world: World) -> None:
    def body() -> None:
        world.spend(1)
        world.inline("g", lambda: world.spend(10))
        world.inline("g", lambda: world.inline("h", lambda: world.spend(100)))

    world.frame("f", body)
    assert world.told() == {"f": (1, 111, 1), "g": (2, 110, 10), "h": (1, 100, 100)}


def test_a_recursion_counts_once(world: World) -> None:
    def down(depth: int) -> None:
        world.spend(1)
        if depth:
            world.inline("f", lambda: down(depth - 1))

    world.frame("root", lambda: world.inline("f", lambda: down(3)))
    assert world.told()["f"] == (4, 4, 4)


def test_an_exception_passes_and_nothing_is_left_behind(world: World) -> None:
    def fails() -> None:
        world.spend(5)
        raise LookupError("from the program")

    with pytest.raises(LookupError, match="from the program"):
        world.frame("f", lambda: world.inline("g", fails))
    world.frame("again", lambda: world.spend(1))
    assert world.told() == {"f": (1, 5, 0), "g": (1, 5, 5)}
    assert world.told(1) == {"again": (1, 1, 1)}


def test_what_the_backend_takes_is_not_tracing(world: World) -> None:
    def body() -> None:
        world.spend(3)
        world.output().mark_bytecode_tracing_stop()
        world.spend(1000)
        world.output().mark_bytecode_tracing_stop()

    world.frame("f", lambda: world.inline("g", body))
    assert world.told() == {"f": (1, 3, 0), "g": (1, 3, 3)}


def test_a_frame_that_is_compiled_while_another_is_traced_is_apart(world: World) -> None:
    def body() -> None:
        world.spend(1)
        world.frame("inner", lambda: world.spend(10))

    world.frame("outer", body)
    assert world.told(0) == {"inner": (1, 10, 10)}
    assert world.told(1) == {"outer": (1, 11, 11)}


def test_an_inlined_function_outside_any_frame_is_left_alone(world: World) -> None:
    world.inline("g", lambda: world.spend(1))
    assert world.stream.records == []


def test_the_costliest_are_told_and_the_others_summed(world: World) -> None:
    def body() -> None:
        for number in range(250):
            world.inline(f"g{number}", lambda number=number: world.spend(number))  # type: ignore[misc]

    world.frame("f", body)
    told = world.told()
    assert len(told) == 200
    assert "g249" in told
    assert "g10" not in told
    left_out = [n for n in range(250) if f"g{n}" not in told]
    others = world.stream.records[0][1]["others"]
    assert others == {"functions": 51, "calls": 51, "exclusive_ns": sum(left_out)}


def test_the_lines_of_the_programs_own_functions_are_recorded_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"line {number}\n" for number in range(1, 5)]
    monkeypatch.setitem(linecache.cache, "/x.py", (len(lines), None, lines, "/x.py"))

    def body() -> None:
        world.inline("g", lambda: world.inline("of_a_library", lambda: world.spend(1)))

    world.frame("f", body)
    world.frame("f", body)
    (told,) = [payload["functions"] for name, payload in world.stream.records if name == LINES_TRACED]
    assert told == [{"file": "/x.py", "around": {1: "line 1", 2: "line 2", 3: "line 3"}}] * 2


def test_a_probe_that_fails_does_not_matter_to_the_tracer(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing_time, "_functions_traced", lambda attempt: 1 / 0)
    done = []
    world.frame("f", lambda: done.append("traced"))
    assert done == ["traced"]
    assert world.stream.records[0][1]["error"].startswith("ZeroDivisionError")

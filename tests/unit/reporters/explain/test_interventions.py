"""What records of overrides and of the freeze mean, and what is said of them."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.capture.interventions.freeze import Freeze
from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.case import Case
from dynamo_core.model import (
    ChangedSetting,
    CompileId,
    Frame,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Replaced,
    Run,
    TracedAgain,
    TriedChange,
)
from dynamo_core.shared import names
from dynamo_core.shared.settings import Settings
from dynamo_reporters.explain.interventions import (
    not_tried_lines,
    override_lines,
    overrides_of,
    unmatched_overrides,
)
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.parts.after_freeze import after_freeze, freeze_sentence, frozen_frames, frozen_lines
from dynamo_reporters.recompiles import report
from dynamo_reporters.report import document
from support.trace_bytes import process_of, record

SERVE = {"name": "serve", "file": "/x/serving.py", "line": 7}
OF_SEVEN = ["0/1: tensor 'x' size mismatch at index 0. expected 32, actual 7", "0/0: len(x) == 3"]
OF_NINE = ["0/1: tensor 'x' size mismatch at index 0. expected 32, actual 9", "0/0: len(x) == 3"]


def artifact(name: str, payload: Any, **ids: int) -> bytes:
    return record({"artifact": {"name": name, "encoding": "json"}, **ids}, json.dumps(payload))


def read(*records: bytes) -> Process:
    return process_of(*records, process=Process(Path("trace.log"), info=ProcessInfo(pid=1)))


def recording(process: Process, **settings: object) -> Recording:
    return Recording(Path("r"), Run.of({"settings": settings}), [process], 1, [])


def frozen_run() -> Recording:
    process = read(
        artifact(names.FROZEN, {"frozen": True, "calls": 40, "seconds": None, "at_ns": 5}),
        artifact(names.NOT_COMPILED, {**SERVE, "reasons": OF_SEVEN, "times": 1}),
        artifact(names.NOT_COMPILED, {**SERVE, "reasons": OF_NINE, "times": 1}),
        artifact(names.NOT_COMPILED, {**SERVE, "reasons": OF_SEVEN, "times": 2}),
        artifact(
            names.NOT_COMPILED, {**SERVE, "name": "new", "reasons": ["never compiled before"], "times": 1}
        ),
    )
    return recording(process, freeze_after="serve=40", on_recompile="eager")


def test_the_call_that_came_first_is_named_and_what_to_do() -> None:
    call = {"file": "/x/serving.py", "line": 30, "name": "main", "text": "handle(batch)"}
    met = {**SERVE, "reasons": OF_SEVEN, "times": 1, "method": "Handler.forward", "called_from": call}
    run = recording(
        read(
            artifact(names.FROZEN, {"frozen": True, "calls": 40, "seconds": None, "at_ns": 5}),
            artifact(names.NOT_COMPILED, met),
        ),
        freeze_after="40",
        on_recompile="eager",
    )
    page = plain_text(after_freeze(run))
    assert "dimension 0: the first such call is at /x/serving.py:30: handle(batch)" in page
    assert "What to do: make such calls a part of the warm-up" in page
    assert next(frozen_lines(run)).startswith("Handler.forward at /x/serving.py:7, 1 time: size of x")
    assert "the first such call" not in plain_text(after_freeze(frozen_run())), "of an older recording"


def test_the_value_that_came_is_beside_the_one_that_was_compiled_for() -> None:
    def of(value: str, times: int) -> bytes:
        what = {**SERVE, "reasons": ["0/0: k == 1"], "came": [value], "times": times}
        return artifact(names.NOT_COMPILED, what)

    frozen = artifact(names.FROZEN, {"frozen": True, "calls": 1, "seconds": None, "at_ns": 5})
    known = recording(read(frozen, of("2", 3), of("7", 1)), freeze_after="1")
    (row,) = [line for line in plain_text(after_freeze(known)).splitlines() if "serving.py" in line]
    assert row.split()[-8:] == ["value", "of", "k", "1", "2", "(3", "times),", "7"]
    (line,) = frozen_lines(known)
    assert line.endswith("serving.py:7, 4 times: value of k: compiled for 1, came 2 (3 times), 7")
    (one,) = frozen_lines(recording(read(frozen, of("2", 3)), freeze_after="1"))
    assert one.endswith("3 times: value of k: compiled for 1, came 2")
    without = recording(
        read(frozen, artifact(names.NOT_COMPILED, {**SERVE, "reasons": ["0/0: k == 1"], "times": 1}))
    )
    assert "not recorded" in plain_text(after_freeze(replace(without, run=known.run)))


def test_what_differs_from_other_versions_is_named_as_well() -> None:
    reasons = ["0/1: k == 1", "0/0: tensor 'x' size mismatch at index 0. expected 32, actual 7"]
    met = {**SERVE, "reasons": reasons, "times": 1}
    frozen = artifact(names.FROZEN, {"frozen": True, "calls": 1, "seconds": None, "at_ns": 5})
    known = recording(read(frozen, artifact(names.NOT_COMPILED, met)), freeze_after="1")
    (line,) = frozen_lines(known)
    assert "value of k (from other versions: size of x at dimension 0): compiled for 1" in line


def test_a_later_count_takes_the_place_of_an_earlier_one() -> None:
    frames = frozen_frames(frozen_run())
    assert [(frame.name, frame.place, frame.times) for frame in frames] == [
        ("serve", Place("/x/serving.py", 7), 3),
        ("new", Place("/x/serving.py", 7), 1),
    ]


def test_reasons_that_differ_in_values_are_one_cause() -> None:
    frame = frozen_frames(frozen_run())[0]
    (cause,) = frame.by_cause()
    assert (cause.what, list(cause.compiled_for), list(cause.came), cause.times) == (
        "size of x at dimension 0",
        ["32"],
        ["7", "9"],
        3,
    )


def test_the_page_and_the_document() -> None:
    run = frozen_run()
    page = plain_text(after_freeze(run))
    assert (
        "Frozen after 40 calls of serve: 4 calls of 2 frames matched no compiled version, and ran eager."
        in page
    )
    assert "never compiled before" in page
    told = document(report(), Case(run))

    first = told["freeze"]["not_compiled"][0]
    assert first["times"] == 3
    assert first["reasons"][0] == {
        "times": 2,
        "reasons": OF_SEVEN,
        "failures": first["reasons"][0]["failures"],
    }
    assert [failure["entry"] for failure in first["reasons"][0]["failures"]] == ["0/1", "0/0"]


def test_a_frame_can_be_picked_out() -> None:
    part = select(frozen_run(), Selection(frame="new"))
    assert [frame.name for frame in frozen_frames(part)] == ["new"]


def test_a_moment_that_did_not_come() -> None:
    process = read(artifact(names.FROZEN, {"frozen": False, "calls": 37, "seconds": None, "at_ns": 5}))
    told = freeze_sentence(recording(process, freeze_after="100", on_recompile="eager"))
    assert told == "Not frozen: 37 of 100 calls of compiled graphs."
    process = read(artifact(names.FROZEN, {"frozen": False, "calls": None, "seconds": 1.5, "at_ns": 5}))
    told = freeze_sentence(recording(process, freeze_after="9s", on_recompile="eager"))
    assert told == "Not frozen: 1.50 s of 9 s without a compile."
    killed = recording(read(), freeze_after="100", on_recompile="eager")
    assert freeze_sentence(killed) == "Not frozen: how far it came was not recorded."
    assert freeze_sentence(recording(read())) is None


def test_a_function_that_was_never_compiled_is_told_with_those_that_were() -> None:
    def told(*frames: tuple[str, str], after: str = "serve=100") -> str | None:
        process = read(artifact(names.FROZEN, {"frozen": False, "calls": 0, "seconds": None, "at_ns": 5}))
        at = Place("/x/serving.py", 7)
        process.frames = [
            Frame(name, at, outcome, None, True, False, None)  # type: ignore[arg-type]
            for name, outcome in frames
        ]
        return freeze_sentence(recording(process, freeze_after=after))

    assert told(("server", "compiled"), ("serve", "failed"), ("other", "skipped"), ("main", "compiled")) == (
        "Not frozen: 0 of 100 calls of serve; no compiled function is called serve, compiled are server, "
        "main."
    )
    for quiet in (told(("serve", "compiled")), told(("serve", "failed"))):
        assert quiet == "Not frozen: 0 of 100 calls of serve."
    assert "no compiled function" in str(told(("forward", "compiled"), after="Net.forward=9"))
    assert told(("f", "compiled"), after="100") == "Not frozen: 0 of 100 calls of compiled graphs."


def test_a_name_that_is_short_for_several_is_told_with_their_names() -> None:
    process = read(artifact(names.FROZEN, {"frozen": False, "calls": None, "seconds": None, "at_ns": 5}))
    process.frames = [
        Frame("forward", Place("/x/a.py", line), "compiled", None, True, False, None, method=method)
        for line, method in ((5, "Net.forward"), (8, "Head.forward"), (5, "Net.forward"))
    ]
    assert freeze_sentence(recording(process, freeze_after="forward=60")) == (
        "Not frozen: forward is short for several compiled functions: name one of Net.forward, Head.forward."
    )


def test_a_size_that_is_told_of_is_counted_on_whatever_else_came(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    stream = SimpleNamespace(record=written.append)
    handler = SimpleNamespace(last_compile_ended_ns=0)
    freeze = Freeze(Settings("r", freeze_after="1s"), ProbeGuard(cast(Any, stream)), cast(Any, handler))
    sizes = iter([*range(30), 3, 3])
    monkeypatch.setattr(freeze, "_reasons", lambda *_: (f"size {next(sizes)}",))
    torchs: Any = SimpleNamespace(output_codes=(), has_tensor_in_frame=lambda frame: True)
    frame: Any = SimpleNamespace(f_code=frozen_run.__code__, f_locals={}, f_globals={})
    for _ in range(32):
        freeze._why_not(SimpleNamespace(_export=False), frame, torchs)
    freeze.finish()
    times: Counter[str | None] = Counter()
    for told in (each for each in written if each.NAME == names.NOT_COMPILED):
        reason = told.reasons[0] if told.reasons else None
        times[reason] = max(times[reason], told.times)
    assert times["size 3"] == 3
    assert times[None] == 30 - 16
    assert sum(times.values()) == 32


def test_overrides_of_calls_and_of_compiles() -> None:
    change = ["backend", "inductor", "eager"]
    call = {"overrides": ["backend=eager"], "of": "f", "file": "/x/t.py", "line": 3, "replaced": [change]}
    process = read(
        artifact(names.OVERRIDE, {**call, "times": 1}),
        artifact(names.OVERRIDE, {**call, "times": 2}),
        artifact(
            names.OVERRIDE,
            {"overrides": ["frame=0/1,backend=eager"], "of": None, "replaced": [change], "times": 1},
            frame_id=0,
            frame_compile_id=1,
        ),
    )
    of_call, of_compile = process.interventions.overrides
    assert (of_call.times, of_call.replaced) == (2, (Replaced("backend", "inductor", "eager"),))
    assert of_compile.compile_id == CompileId(0, 1)
    asked = ["backend=eager", "frame=0/1,backend=eager", "frame=5,backend=eager"]
    run = recording(process, override=asked)
    assert unmatched_overrides(run) == ["frame=5,backend=eager"]
    assert override_lines(run) == [
        "torch.compile of f at /x/t.py:3: backend inductor → eager (2 times)",
        "compile [0/1] of unknown frame (unknown place): backend inductor → eager",
        "frame=5,backend=eager: found no compile of frame 5",
    ]


def test_records_that_make_no_sense_are_damage() -> None:
    process = read(
        artifact(names.FROZEN, {"frozen": True}),
        artifact(names.NOT_COMPILED, {"name": ["a list"], "times": 1}),
        artifact(names.OVERRIDE, {"replaced": [["one"]], "times": 1}),
    )
    assert process.health.damaged_records == 3
    assert (
        process.interventions.freeze,
        process.interventions.not_compiled,
        process.interventions.overrides,
    ) == (None, [], [])
    assert unmatched_overrides(recording(process, override="text")) == []


def frozen_after(text: str, *, compile_ended_ns: int | None) -> list[Any]:
    """What a process writes that ends without having frozen, or that froze as it ended."""
    written: list[Any] = []
    handler = SimpleNamespace(last_compile_ended_ns=compile_ended_ns)
    stream = SimpleNamespace(record=written.append)
    Freeze(Settings("r", freeze_after=text), ProbeGuard(cast(Any, stream)), cast(Any, handler)).finish()
    return [each for each in written if each.NAME == names.FROZEN]


def test_a_program_that_compiled_nothing_does_not_freeze_however_long_it_runs() -> None:
    (noted,) = frozen_after("1s", compile_ended_ns=None)
    assert (noted.frozen, noted.seconds, noted.calls) == (False, None, None)
    (noted,) = frozen_after("1s", compile_ended_ns=0)
    assert noted.frozen and noted.seconds > 1


def test_settings_of_torch_that_were_changed_or_not_met() -> None:
    process = read()
    process.interventions.changed_settings = [
        ChangedSetting(change="torch._dynamo.config.recompile_limit=2", was="8", now="2", problem=None),
        ChangedSetting(
            change="torch._inductor.config.x=1", was=None, now=None, problem="it has no such setting"
        ),
        ChangedSetting(change="torch._dynamo.config.names+='a'", was="[]", now="['a']", problem=None),
    ]
    process.interventions.overrides = read(
        artifact(
            names.OVERRIDE,
            {
                "overrides": ["mode=default"],
                "of": "f",
                "file": "/x/t.py",
                "line": 3,
                "replaced": [["mode", "None", "default"]],
                "times": 2,
            },
        )
    ).interventions.overrides
    asked = [each.change for each in process.interventions.changed_settings] + ["torch.never.loaded=1"]
    run = recording(
        process,
        config=asked,
        override=["mode=default", "frame=0/7,backend=eager", "dynamic=True", "backend=eager"],
    )
    assert override_lines(run) == [
        "torch.compile of f at /x/t.py:3: mode None → default (2 times)",
        "frame=0/7,backend=eager: found no compile [0/7]",
        "dynamic=True: found no call of torch.compile in the program's own code",
        "backend=eager: found no call of torch.compile in the program's own code; "
        "for what dynamo run compiles it is `--backend=eager`",
        "torch._dynamo.config.recompile_limit: 8 → 2",
        "torch._inductor.config.x=1: not set, it has no such setting",
        "torch._dynamo.config.names: [] → ['a']",
        "torch.never.loaded=1: torch never loaded that module",
    ]
    told = overrides_of(run)
    unmatched = ["frame=0/7,backend=eager", "dynamic=True", "backend=eager", "torch.never.loaded=1"]
    assert told.unmatched == unmatched
    (met,) = told.applied
    assert (met.override.of, met.override.place, met.override.times) == ("f", Place("/x/t.py", 3), 2)
    assert [tuple(each) for each in met.override.replaced] == [("mode", "None", "default")]
    settings = [each.setting for each in told.settings]
    assert [(each.change, each.was, each.now, each.problem) for each in settings] == [
        ("torch._dynamo.config.recompile_limit=2", "8", "2", None),
        ("torch._inductor.config.x=1", None, None, "it has no such setting"),
        ("torch._dynamo.config.names+='a'", "[]", "['a']", None),
    ]


def test_why_nothing_was_tried_is_said_once_for_all_frames() -> None:
    why = "CUDA is in use, so that the process cannot be copied"
    nothing, traced = TracedAgain((), 0, 0, 0, why), TracedAgain((), 0, 0, 3, None)
    tried = [
        TriedChange(None, Place("train.py", line), ("dynamic=True",), before, before)
        for line, before in ((3, nothing), (3, nothing), (9, nothing), (20, traced))
    ]
    process = Process(Path("s.log"))
    process.interventions.tried_changes += tried
    assert not_tried_lines(Recording(Path("rec"), None, [process], 1, [])) == [f"changes for 2 frames: {why}"]

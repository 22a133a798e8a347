"""What the trials of a module come to: the verdict, the code that exports it, what was saved."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.exports import modules
from dynamo_core.exports.modules import Exports, ModuleExport, agreement, exports_of, specialized_arguments
from dynamo_core.model import (
    CalledModule,
    ConstantSeen,
    ExportComparison,
    Exporting,
    ExportTrial,
    Process,
    ProcessInfo,
    Recording,
    Run,
    RunSettings,
)
from dynamo_core.shared.errors import NotARecording
from dynamo_core.shared.export_records import ModulesCalled
from dynamo_core.shared.names import EXPORT_FOLDER

COPY, FORK = 10, 20


def trial(
    kind: str = "export", outcome: str = "done", *, dynamic: bool = True, **more: object
) -> ExportTrial:
    known: dict[str, object] = dict.fromkeys(("error_kind", "error", "failed_at", "saved"))
    known |= {"seconds": 1.0, "obstacles": (), **more}
    return ExportTrial(kind, dynamic, outcome, **known)  # type: ignore[arg-type]


def compared(outcome: str) -> ExportComparison:
    return ExportComparison({"x": (2, 3), "y": ()}, outcome, 1, None, None)


def called(name: str = "Net", **more: object) -> CalledModule:
    known: dict[str, object] = dict.fromkeys(("place", "called_at"))
    known |= {"training": False, "parameters": 3, "calls": 2, "other_forms": 0, "inputs": (), "constants": ()}
    known |= {"dynamic_shapes": "{'x': {0: Dim.DYNAMIC}}", "arguments": "(x,)", "dataclasses": (), **more}
    return CalledModule(name, **known)  # type: ignore[arg-type]


def copy(module: CalledModule | None = None, pid: int = COPY, began_ns: int | None = 1) -> Process:
    info = ProcessInfo(pid=pid, began_ns=began_ns)
    return Process(Path(f"{pid}.log"), info=info, export=Exporting(called_module=module or called()))


def fork(*trials: ExportTrial, parent: int = COPY, comparisons: tuple[str, ...] = ()) -> Process:
    process = Process(
        Path("fork.log"), info=ProcessInfo(pid=FORK, ppid=parent), export=Exporting(trials=list(trials))
    )
    process.export.comparisons += map(compared, comparisons)
    return process


Read = Callable[..., Exports]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """What is made of a run whose copies and trials are these processes."""

    def read_run(*trials: Process, main: tuple[Process, ...] = ()) -> Exports:
        folder = tmp_path / EXPORT_FOLDER
        folder.mkdir(exist_ok=True)
        if trials:
            (folder / "a.log").touch()
        known = Recording(folder, None, list(trials), None, [])
        monkeypatch.setattr(modules, "read", lambda *_: known)
        run = Run(settings=RunSettings.of({**RunSettings().as_json(), "export": [1.0, 3]}))
        return exports_of(Recording(tmp_path, run, list(main), None, []))

    return read_run


def one(read: Read, *trials: ExportTrial, module: CalledModule | None = None, **more: object) -> ModuleExport:
    (found,) = read(copy(module), fork(*trials, **more)).modules  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("trials", "comparisons", "verdict"),
    [
        ((trial(),), (), "exports"),
        ((trial("strict"),), ("agrees",), "exports"),
        ((trial("draft"), trial("aoti")), (), "does not export"),
        ((trial(outcome="failed"), trial("strict", "crashed")), (), "does not export"),
        ((trial(outcome="failed"), trial("strict", "raised")), (), "raises"),
        ((trial(), trial("strict", "raised")), (), "exports"),
        ((trial(),), ("agrees", "disagrees"), "disagrees with eager"),
        ((trial(outcome="failed"), trial(dynamic=False)), (), "exports for some calls"),
    ],
)
def test_the_verdict_is_by_what_works_then_by_what_was_compared_then_by_sizes(
    trials: tuple[ExportTrial, ...], comparisons: tuple[str, ...], verdict: str, read: Read
) -> None:
    assert one(read, *trials, comparisons=comparisons).verdict == verdict


def test_sizes_that_never_varied_are_all_and_values_of_which_one_is_known_are_some(read: Read) -> None:
    fixed = trial(dynamic=False)
    assert one(read, fixed, module=called(dynamic_shapes=None)).verdict == "exports"
    mode, number = ConstantSeen("mode", ("'a'", "'b'")), ConstantSeen("n", ("-1", "2"))
    assert one(read, trial(), module=called(constants=(mode,))).verdict == "exports for some calls"
    assert one(read, trial(), module=called(constants=(number,))).verdict == "exports"
    single, mixed = ConstantSeen("m", ("'a'",)), ConstantSeen("n", ("1", "1.5"))
    assert specialized_arguments([mode, number, single, mixed]) == [mode, mixed]


def test_trials_are_in_the_order_of_the_kinds_dynamic_first_and_each_once(read: Read) -> None:
    trials = [
        trial("aoti"),
        trial("strict", dynamic=False),
        trial("strict", "too long"),
        trial("strict"),
        trial("strict", "crashed"),
        trial("export", "failed", error="x", error_kind="E"),
        trial("export", "crashed", error="y"),
    ]
    ways = one(read, *trials).ways
    assert [(way.kind, way.shapes, way.outcome) for way in ways] == [
        ("export", "dynamic", "failed"),
        ("strict", "dynamic", "done"),
        ("strict", "fixed", "done"),
        ("aoti", "dynamic", "done"),
    ]
    assert [way.words for way in ways[:2]] == ["E: x", None]
    assert one(read, trial(outcome="crashed", error="y")).ways[0].words == "ended: y"


def test_the_code_is_of_the_best_way_dynamic_before_fixed_and_export_before_strict(read: Read) -> None:
    best = one(read, trial(dynamic=False), trial("strict"), trial("strict", dynamic=False)).code
    assert best == (
        "from torch.export import Dim, export\n\nexported = export(\n    model, (x,),\n"
        "    dynamic_shapes={'x': {0: Dim.DYNAMIC}},\n    strict=True,\n)"
    )
    both = one(read, trial("strict"), trial()).code
    assert both is not None and "strict=False" in both
    fixed = one(read, trial(dynamic=False), module=called(dataclasses=("Batch",))).code
    assert fixed is not None and "dynamic_shapes" not in fixed and "Dim" not in fixed
    assert fixed.startswith(
        "from torch.export import export, register_dataclass\n\nregister_dataclass(Batch)\n"
    )
    assert one(read, trial(outcome="failed")).code is None


def test_what_was_saved_is_of_a_way_that_works_and_a_package_of_aotinductors(read: Read) -> None:
    saved = one(read, trial(saved="a.pt2"), trial("strict", saved="b.pt2"), trial("aoti", saved="c.pt2"))
    assert (saved.file, saved.not_saved, saved.package) == ("a.pt2", None, "c.pt2")
    failed = one(read, trial(error="disk full", error_kind="OSError"), trial("aoti", "failed", saved="c.pt2"))
    assert (failed.file, failed.not_saved, failed.package) == (None, "OSError: disk full", None)


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        ((), "not compared"),
        (("agrees",), "agrees"),
        (("agrees", "not comparable"), "agrees in part"),
        (("not comparable",), "not comparable"),
        (("agrees", "disagrees"), "disagrees"),
    ],
)
def test_agreement_is_a_word_on_all_calls(outcomes: tuple[str, ...], word: str, read: Read) -> None:
    found = one(read, trial("strict"), comparisons=outcomes)
    assert agreement(found) == word
    assert {(each.by, each.sizes) for each in found.compared} <= {("strict", "x [2, 3], y []")}


def test_modules_are_in_the_order_of_their_first_calls_and_have_the_trials_of_their_own_copy(
    read: Read,
) -> None:
    copies = [
        copy(called("A"), 3, 30),
        copy(called("B"), 1, 10),
        copy(called("A"), 2, 20),
        copy(called("C"), 4, None),
    ]
    found = read(*copies, fork(trial(), parent=2)).modules
    assert [each.name for each in found] == ["C", "B", "A", "A (2)"]
    assert [each.verdict == "exports" for each in found] == [False, False, True, False]


def test_what_was_left_out_is_added_up_and_not_known_where_it_was_not_recorded(read: Read) -> None:
    main = [
        replace(
            copy(),
            export=replace(copy().export, called_module=None, modules_called=None),
        )
        for _ in range(3)
    ]
    assert read(main=tuple(main)).left_out is None
    main[0].export.modules_called = ModulesCalled(modules=3, left_out=3)
    main[1].export.modules_called = ModulesCalled(modules=2, left_out=2, cannot_copy="no memory")
    main[2].health.failed_probes["modules to export"] = "TypeError"
    found = read(main=tuple(main))
    assert (found.left_out, found.why_left_out, found.problem) == (5, "no memory", "TypeError")
    assert read().left_out == 0
    main[0].export.modules_called = ModulesCalled(modules=4, left_out=3)
    with pytest.raises(NotARecording, match="has no trials in it"):
        read(main=tuple(main))

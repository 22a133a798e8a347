"""torch's compiler bisector, where it is active: what is recorded and said of it."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from dynamo_core.capture.process_records import process_state
from dynamo_core.case import Case
from dynamo_core.model import Process, ProcessState, Recording
from dynamo_core.shared.bisection import bisection
from dynamo_reporters.explain.sections import bisection_lines, blocks_of
from dynamo_reporters.page.console import plain_text


def status(folder: Path, text: str) -> Path:
    file = folder / "bisect" / "bisect_status.txt"
    file.parent.mkdir()
    file.write_text(text)
    return file


def test_the_status_file_and_the_variables_say_what_is_bisected(tmp_path: Path) -> None:
    assert bisection({}, str(tmp_path)) is None
    file = status(tmp_path, "backend=inductor\nsubsystem=lowerings\n")
    assert bisection({}, str(tmp_path)) == f"backend inductor, subsystem lowerings ({file})"
    by_variable = bisection({"TORCH_BISECT_BACKEND": "eager"}, str(tmp_path))
    assert by_variable == f"backend eager, subsystem lowerings (TORCH_BISECT_BACKEND, {file})"
    file.write_text("backend=aot_eager\nsubsystem=\n")
    assert bisection({}, str(tmp_path)) == f"backend aot_eager ({file})"


def test_the_process_notes_it_once_torch_has_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = status(tmp_path, "backend=eager\n")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    name = "torch._inductor.compiler_bisector"
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert process_state().bisecting is None
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert process_state().bisecting == f"backend eager ({file})"


def test_explain_says_that_the_program_was_not_compiled_as_it_asks_for() -> None:
    process = Process(Path("t"))
    quiet = Case(Recording(Path("r"), None, [process], None, []))
    assert bisection_lines(quiet) == []
    active = replace(
        process, runtime=replace(process.runtime, state=ProcessState(bisecting="backend eager (FILE)"))
    )
    case = Case(Recording(Path("r"), None, [active, active], None, []))
    (line,) = bisection_lines(case)
    assert line.startswith("backend eager (FILE): the program is not compiled as it asks for")
    assert line in plain_text(blocks_of(case)) and "bisector" not in plain_text(blocks_of(quiet))

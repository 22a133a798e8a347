"""What is read and said of the places where torch.compile's semantics are not eager's."""

import json
from pathlib import Path
from typing import Any

from dynamo_core.model import Place, Process, ProcessInfo, Recording, Run
from dynamo_core.shared import names
from dynamo_reporters.explain.interventions import semantics_line, semantics_of, semantics_section
from dynamo_reporters.page.console import plain_text
from support.trace_bytes import NO_FRAME, artifact, process_of

UNUSED = {
    "graph": 1,
    "kind": "unused_output",
    "answered": "eager",
    "outputs": ["linear_1"],
    "inputs": ["L['self']._modules['b']._parameters['weight']", "L['x']"],
    "file": "/x/train.py",
    "line": 8,
}


def read(*payloads: Any) -> Recording:
    said = (artifact(names.SEMANTICS, json.dumps(payload), NO_FRAME) for payload in payloads)
    process = process_of(*said, process=Process(Path("trace.log"), info=ProcessInfo(pid=1)))
    return Recording(Path("r"), Run(), [process], 1, [])


def page(recording: Recording) -> str:
    return plain_text(semantics_section(recording))


def test_an_unused_output_names_its_line_and_the_parameters() -> None:
    recording = read(UNUSED)
    (difference,) = recording.processes[0].interventions.semantic_differences
    assert difference.place == Place("/x/train.py", 8)
    text = " ".join(page(recording).split())
    assert text.startswith("What torch.compile would change")
    assert "/x/train.py:8: no loss used linear_1; torch.compile gives self.b.weight, L['x'] gradients" in text
    assert "Here eager's result was kept." in text
    assert "--semantics compiled" in text


def test_what_a_program_of_its_own_got_is_not_called_kept() -> None:
    recording = read({**UNUSED, "answered": "compiled"})
    text = " ".join(page(recording).split())
    assert text.startswith("What torch.compile changes")
    assert "The program got what torch.compile gives." in text
    assert "--semantics" not in text


def test_exceptions_of_both_are_told() -> None:
    both = {
        "graph": 2,
        "kind": "exception",
        "answered": "eager",
        "compiled": "RuntimeError: a",
        "eager": "IndexError: b",
    }
    text = page(read(both, {**both, "graph": 3, "eager": None}))
    assert "compiled code raises RuntimeError: a, where eager raises IndexError: b" in text
    assert "compiled code raises RuntimeError: a, where eager computes a result" in text


def test_the_same_place_is_told_once_and_the_line_counts_places() -> None:
    recording = read(UNUSED, UNUSED, {**UNUSED, "line": 9})
    assert semantics_line(recording) == (
        "torch.compile differs from eager in 2 places of this program; eager's semantics were kept"
    )
    assert len(semantics_of(recording)) == 3
    assert semantics_line(read()) is None
    assert page(read()) == ""


def test_an_unknown_kind_is_shown_by_its_name_and_an_unknown_answer_is_damage() -> None:
    assert "from_the_future" in page(read({**UNUSED, "kind": "from_the_future"}))
    damaged = read({**UNUSED, "answered": "maybe"})
    assert damaged.processes[0].health.damaged_records == 1
    assert damaged.processes[0].interventions.semantic_differences == []

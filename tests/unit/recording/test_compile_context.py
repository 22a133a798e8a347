"""Cells of a notebook are called by their numbers, in whatever a process has recorded."""

from pathlib import Path

import pytest

from dynamo_core.model import Frame, Health, Place, Process
from dynamo_core.recording.compile_context import name_cells

CELLS = {"/tmp/ipykernel_7/123456.py": 2, "/tmp/ipykernel_7/3456.py": 10}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/tmp/ipykernel_7/123456.py:4 if y > 0:", "In[2]:4 if y > 0:"),
        ("at /tmp/ipykernel_7/3456.py, then /tmp/ipykernel_7/123456.py", "at In[10], then In[2]"),
        ("# mp/ipykernel_7/123456.py:3", "# In[2]:3"),  # as torch cuts a path short
        ("/home/me/123456.py", "/home/me/123456.py"),
        ("a text without any", "a text without any"),
    ],
)
def test_a_file_is_the_cell(text: str, named: str) -> None:
    process = Process(Path("stream"), health=Health(failed_probes={"guards": text}))
    name_cells(process, CELLS)
    assert process.health.failed_probes == {"guards": named}


def test_places_are_in_the_cell_and_shared_objects_stay_shared() -> None:
    frame = Frame("score", Place("/tmp/ipykernel_7/123456.py", 1), "compiled", None, True, False, None)
    process = Process(Path("stream"), frames=[frame, frame])
    name_cells(process, CELLS)
    assert process.frames[0].place == Place("In[2]", 1)
    assert process.frames[0] is process.frames[1]

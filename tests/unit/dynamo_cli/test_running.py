"""What the progress line says, and what it writes to the terminal."""

from pathlib import Path

from dynamo_cli.running import _LastRow, progress_text
from dynamo_core.model import CompileId, Compiling, Place, Process

BEGAN_NS = 1_000_000_000_000


def process(*began: int, graph: int | None = None) -> Process:
    found = Process(Path("x.log"))
    for number, began_ns in enumerate(began):
        id_ = CompileId(number, 0)
        found.compiling.append(
            Compiling(id_, "forward", Place("net.py", 7), began_ns, False, graph, 3, graph and "inductor")  # type: ignore[arg-type]
        )
    return found


def test_a_compile_is_shown_from_its_second_second_on() -> None:
    assert progress_text([process(BEGAN_NS)], BEGAN_NS + 999_999_999) is None
    assert progress_text([process(BEGAN_NS)], BEGAN_NS + 1_000_000_000) == (
        "dynamo: compiling for 1 s, 0 done: forward at net.py:7 [0/0]: traced by Dynamo"
    )
    assert progress_text([process()], BEGAN_NS) is None


def test_the_longest_is_shown_and_the_others_counted() -> None:
    text = progress_text([process(BEGAN_NS + 5, graph=2), process(BEGAN_NS)], BEGAN_NS + 42_000_000_000)
    assert (
        text
        == "dynamo: compiling for 42 s, 1 more at once, 0 done: forward at net.py:7 [0/0]: traced by Dynamo"
    )


def test_the_row_is_taken_once_and_given_back() -> None:
    row = _LastRow()
    first, second, last = row._drawn("a", 24), row._drawn("b", 24), row._drawn(None, 24)
    assert first.endswith("\x1b7\x1b[24;1H\x1b[2Ka\x1b8")
    assert "\x1b[1;23r" in first, "what scrolls ends above it"
    assert second == "\x1b7\x1b[24;1H\x1b[2Kb\x1b8"
    assert last == "\x1b7\x1b[24;1H\x1b[2K\x1b[r\x1b8"


def test_a_terminal_that_was_resized_is_cleaned_first() -> None:
    row = _LastRow()
    row._drawn("a", 24)
    assert row._drawn("a", 30).startswith("\x1b7\x1b[24;1H\x1b[2K\x1b[r\x1b8")

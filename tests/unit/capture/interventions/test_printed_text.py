"""What a call prints is noted, and printed as it is."""

import io
import sys
import threading

import pytest

from dynamo_core.capture.interventions.printed_text import is_printed_alike, noting_printed


def test_lines_are_noted_and_still_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with noting_printed() as printed:
        print("loss", 1.5)
        print("rest", end="")
    assert printed.roots()["printed"] == ["loss 1.5", "rest"]
    print()
    assert stream.getvalue() == "loss 1.5\nrest\n"
    assert "write" not in vars(stream)


def test_what_another_thread_prints_is_not_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with noting_printed() as printed:
        other = threading.Thread(target=print, args=("other",))
        other.start()
        other.join()
    assert printed.roots()["printed"] == []


class _Fixed:
    __slots__ = ()

    def write(self, text: str) -> int:
        return len(text)


@pytest.mark.parametrize("stream", [None, _Fixed()])
def test_what_cannot_be_noted_is_none(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with noting_printed() as printed:
        print("lost")
    assert printed.roots() == {"printed": None}


def test_long_text_is_not_noted_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with noting_printed() as printed:
        print("x" * 100_000)
    assert printed.roots() == {"printed": None}


def test_a_write_of_the_programs_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    seen: list[str] = []
    stream.write = seen.append  # type: ignore[assignment, method-assign]
    monkeypatch.setattr(sys, "stdout", stream)
    with noting_printed():
        print("a", end="")
    print("b", end="")
    assert "".join(seen) == "ab"


@pytest.mark.parametrize(
    ("own", "eagers", "are_alike"),
    [
        ("loss 0.12345", "loss 0.12346", True),
        ("loss 0.12", "loss 0.92", False),
        ("step 1", "step 2", False),
        ("a 0.5", "b 0.5", False),
    ],
)
def test_lines_are_alike_but_for_rounding(own: str, eagers: str, are_alike: bool) -> None:
    assert is_printed_alike(own, eagers) is are_alike

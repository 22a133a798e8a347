"""How many calls ran eager at torch's recompile limit, by what torch's look-ups found."""

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.capture.probes.frames import CallsAtLimitCounter, is_refusal
from dynamo_core.shared.our_record import OurRecord

eval_frame = pytest.importorskip("torch._C._dynamo.eval_frame")


class Written:
    """In the place of the stream."""

    def __init__(self) -> None:
        self.records: list[OurRecord] = []

    def record(self, record: OurRecord) -> None:
        self.records.append(record)


class Torch:
    """Keeps the hook, as torch does, and looks entries up."""

    def __init__(self, hook: Any = None) -> None:
        self.hook = hook

    def set_guard_complete_hook(self, hook: Any) -> Any:
        before, self.hook = self.hook, hook
        return before


@pytest.fixture
def torchs(monkeypatch: pytest.MonkeyPatch) -> Torch:
    torchs = Torch()
    monkeypatch.setattr(eval_frame, "set_guard_complete_hook", torchs.set_guard_complete_hook)
    return torchs


def counted(counter: CallsAtLimitCounter, written: Written) -> int:
    counter.finish()
    return written.records[-1].payload()["times"]  # type: ignore[no-any-return]


def begun(written: Written) -> CallsAtLimitCounter:
    counter = CallsAtLimitCounter(written)  # type: ignore[arg-type]
    counter.begin()
    return counter


def test_calls_for_which_no_entry_fitted_and_the_one_that_was_refused_count(torchs: Torch) -> None:
    written = Written()
    counter = begun(written)
    assert [torchs.hook(found) for found in (True, False, True, False, False)] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert counted(counter, written) == 1 + 3


def test_a_look_up_that_led_to_a_compile_was_no_call_in_eager(torchs: Torch) -> None:
    written = Written()
    counter = begun(written)
    torchs.hook(False)
    torchs.hook(False)
    counter.tried({"frame_id": 1, "frame_compile_id": 2}, is_refused=False)
    counter.tried({"frame_id": 5, "frame_compile_id": 0}, is_refused=False)  # has no entries: not looked up
    counter.tried(None, is_refused=False)
    assert counted(counter, written) == 1 + 1
    torchs.hook(False)
    counter.tried({"frame_id": 1, "frame_compile_id": 8}, is_refused=True)
    assert counted(counter, written) == 1 + 2


def test_a_forked_child_counts_its_own(torchs: Torch) -> None:
    written = Written()
    counter = begun(written)
    torchs.hook(False)
    counter._reset_after_fork()
    torchs.hook(False)
    assert counted(counter, written) == 1


def test_a_hook_of_torchs_own_stays(torchs: Torch) -> None:
    torchs.hook = theirs = lambda found: found
    with pytest.raises(RuntimeError, match="is taken"):
        begun(Written())
    assert torchs.hook is theirs


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("RUN_ONLY", True), ("SKIP", False), ("DEFAULT", False), (None, False)],
)
def test_a_frame_is_refused_where_its_entries_are_still_used(strategy: str | None, expected: bool) -> None:
    action = SimpleNamespace(cur_action=SimpleNamespace(name=strategy))
    assert is_refusal(SimpleNamespace(frame_exec_strategy=action if strategy else None)) is expected
    assert not is_refusal(None)

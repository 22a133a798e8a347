"""When compiling is frozen; the value that a guard was given, looked up without the program's own code."""

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.capture.interventions.freeze import Freeze, value_that_came
from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.shared.records import FreezeNoted
from dynamo_core.shared.settings import Settings


class Config:
    depth = 5  # of the class: not in what an object has

    def __init__(self) -> None:
        self.layers = {"first": [3, 4]}
        self._parameters = {"weight": 0.5}
        self.secret = object()

    @property
    def counted(self) -> int:
        raise AssertionError("the program's own code was run")

    def __getattr__(self, name: str) -> object:
        raise AssertionError("the program's own code was run")


class Counted(list[int]):
    def __len__(self) -> int:
        raise AssertionError("the program's own code was run")


LOCALS = {"k": 2, "mode": "eval", "xs": [1, 2], "self": Config(), "own": Counted(), "lr": 0.25}
GLOBALS = {"SCALE": 7}


@pytest.mark.parametrize(
    ("reason", "came"),
    [
        ("0/0: k == 1    # return x + k  # train.py:4 in f\nUser stack trace:\n  File …", "2"),
        ("!0/1/0: L['k'] == 1", "2"),
        ("0/0: mode == 'train'", "'eval'"),
        ("0/0: k is None", "2"),
        ("0/0: len(xs) == 3", "2"),
        ("0/0: not xs", "2"),  # compiled for an empty one
        ("0/0: G['SCALE'] == 6", "7"),
        ("0/0: self.layers['first'][1] == 3", "4"),
        ("0/0: self.weight == 0.25", "0.5"),
        ("0/0: self._parameters['weight'] == 0.25", "0.5"),
        ("0/0: 0.5 <= lr", "0.25"),
        ("0/0: k <= lr", "k = 2, lr = 0.25"),
        ("0/0: ___check_type_id(k, 94), type=<class 'float'>", "int"),
        ("0/0: ___check_type_id(self, 94)", f"{__name__}.Config"),
    ],
)
def test_the_value_is_looked_up(reason: str, came: str) -> None:
    assert value_that_came(reason, LOCALS, GLOBALS) == came


@pytest.mark.parametrize(
    "check",
    [
        "tensor 'x' size mismatch at index 0. expected 2, actual 3",
        "self.counted == 1",
        "self.secret == 1",
        "self.gone == 1",
        "self.depth == 1",
        "len(own) == 2",
        "not own",
        "not k",
        "xs[9] == 1",
        "xs['a'] == 1",
        "___check_obj_id(k, 12)",
        "open('x') == 1",
        "unknown == 1",
        "(" * 5000,
        "GLOBAL_STATE changed: grad_mode",
    ],
)
def test_what_is_not_known_is_none_and_nothing_is_run(check: str) -> None:
    assert value_that_came(f"0/0: {check}", LOCALS, GLOBALS) is None


class Stream:
    """In place of the stream: what is written, and how often the graph of each page was called."""

    def __init__(self, **calls: int) -> None:
        self.records: list[Any] = []
        self.record = self.records.append
        self.counters = SimpleNamespace(calls_of=lambda page: calls[f"page_{page}"])


def at_the_end(after: str, stream: Stream, last_compile_ended_ns: int | None = None) -> FreezeNoted:
    """What is recorded where Dynamo was not asked to compile again."""
    guard, handler = ProbeGuard(stream), SimpleNamespace(last_compile_ended_ns=last_compile_ended_ns)  # type: ignore[arg-type]
    freeze = Freeze(Settings("/rec", freeze_after=after), guard, handler)  # type: ignore[arg-type]
    for page in (1, 2):
        freeze.watch(page)
    freeze.finish()
    (noted,) = stream.records
    assert isinstance(noted, FreezeNoted)
    return noted


@pytest.mark.parametrize(("after", "is_frozen"), [("9", True), ("10", True), ("11", False)])
def test_compiling_is_frozen_once_all_graphs_were_called_so_often(after: str, is_frozen: bool) -> None:
    noted = at_the_end(after, Stream(page_1=7, page_2=3))
    assert (noted.frozen, noted.calls, noted.seconds) == (is_frozen, 10, None)


def test_compiling_is_frozen_so_long_after_a_compile_and_not_before_the_first() -> None:
    noted = at_the_end("5s", Stream())
    assert (noted.frozen, noted.calls, noted.seconds) == (False, None, None)
    noted = at_the_end("5s", Stream(), last_compile_ended_ns=0)
    assert noted.frozen and noted.seconds is not None and noted.seconds > 5


def test_what_is_frozen_after_calls_of_a_function_that_was_not_compiled_is_not() -> None:
    noted = at_the_end("forward=1", Stream(page_1=7, page_2=3))
    assert (noted.frozen, noted.calls) == (False, 0)

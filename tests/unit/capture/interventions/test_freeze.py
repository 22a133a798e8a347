"""The value that a failed guard was given, looked up without running any of the program's code."""

import pytest

from dynamo_core.capture.interventions.freeze import value_that_came


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

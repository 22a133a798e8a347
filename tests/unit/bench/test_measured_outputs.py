"""What `dynamo bench` makes of a run's output: beside eager's, and where the run failed."""

from math import isclose

import pytest

from dynamo_core.bench.measured import compare_outputs
from dynamo_core.bench.runs import error_line


def test_same() -> None:
    assert compare_outputs("a 1\n", "a 1\n").likeness == "same"


def test_numbers() -> None:
    found = compare_outputs(
        "step 1 loss 2.000\nstep 2 loss 1.0e-3\n", "step 1 loss 2.000\nstep 2 loss 1.1e-3\n"
    )
    assert found.likeness == "numbers" and found.line == 2
    assert found.relative_difference is not None and isclose(found.relative_difference, 1 / 11)


def test_different() -> None:
    found = compare_outputs("loss 1\n", "loss nan\n")
    assert (found.likeness, found.relative_difference, found.line) == ("different", None, 1)
    assert compare_outputs("a\n", "a\nb\n").line == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 0.5 in 12.3 ms", "loss 0.5 in 9 ms"),
        ("epoch 1 time: 3.25", "epoch 1 time: 3.3"),
        ("2026-11-25 13:00:01,123 loss 0.5", "2026-11-26 00:10:59,004 loss 0.5"),
        ("3/3 [00:12<00:00, 31.5it/s]", "3/3 [01:02<00:00, 1.20s/it]"),
        ("took 1.5e-3 seconds, 800 samples/sec", "took 2 seconds, 1e3 samples/sec"),
        ("Time taken 3.2, runtime=3, fps 31, 30 fps", "Time taken 4, runtime=2.9, fps 29.5, 28.1 fps"),
        ("throughput: 300, tokens per second: 31", "throughput: 291.5, tokens per second: 35"),
    ],
)
def test_times_are_not_compared(one: str, other: str) -> None:
    assert compare_outputs(one, other).likeness == "same"


@pytest.mark.parametrize("text", ["loss {}", "step 1: {}", "min {} max 9", "x[0:{}]", "accuracy {} %"])
def test_other_numbers_are(text: str) -> None:
    assert compare_outputs(text.format("0.5"), text.format("0.6")).likeness == "numbers"


def test_an_infinite_number() -> None:
    assert compare_outputs("1e999", "1.0").relative_difference == 1.0


@pytest.mark.parametrize(
    ("stderr", "error"),
    [
        (
            "warning\nTraceback (most recent call last):\n  File x\n    f()\n"
            "torch._dynamo.exc.BackendCompilerFailed: backend='mine' raised:\nRuntimeError: too small\n\n"
            "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n\n",
            "torch._dynamo.exc.BackendCompilerFailed: backend='mine' raised: RuntimeError: too small",
        ),
        (
            "Traceback (most recent call last):\n  File x\nKeyError: 1\n\nDuring handling:\n\n"
            "Traceback (most recent call last):\n  File y\nValueError: bad\n  more of it\n",
            "ValueError: bad",
        ),
        ("usage: train.py\ntrain.py: error: no data\n", "train.py: error: no data"),
        ("Traceback (most recent call last):\n  File x", "File x"),
        ("", ""),
    ],
)
def test_a_failure_is_named_by_its_error(stderr: str, error: str) -> None:
    """torch's advice on how to see more comes after the error, and says nothing of it."""
    assert error_line(stderr) == error

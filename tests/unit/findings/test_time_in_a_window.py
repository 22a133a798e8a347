"""What the window of --profile says of loaders and optimizers."""

from dataclasses import replace
from typing import Any

from dynamo_core.findings import Figure, Finding, find
from dynamo_core.model import CompileId, Graph, Optimizer, Place, ProfileWindow, WindowSpan
from support.made import of_one_process

ADAMW = Optimizer(name="AdamW", module="torch.optim.adamw", file="adam.py")
TRAINS = Graph(1, CompileId(0, 0), 0, None, "eager", 3, is_compiled=True, trains=True, optimizer_steps=())


def window(*spans: WindowSpan) -> ProfileWindow:
    """Four steps of half a second."""
    return ProfileWindow(1, 4, 2.0, 0, 1, 0, (), (), (), None, 0, None, spans)


def wait(seconds: float, name: str = "_SingleProcessDataLoaderIter", *places: Place) -> WindowSpan:
    return WindowSpan("loader", name, 4, seconds, 0.0, places)


def step(seconds: float, name: str = "AdamW", in_graphs: float = 0.0) -> WindowSpan:
    return WindowSpan("optimizer step", name, 4, seconds, in_graphs)


def of_kind(kind: str, **fields: Any) -> list[Finding]:
    return [each for each in find(of_one_process(**fields)) if each.kind == kind]


def of_optimizer(*spans: WindowSpan, **fields: Any) -> list[Finding]:
    known = {"graphs": [TRAINS], "optimizers": [ADAMW], "window": window(*spans), **fields}
    return of_kind("eager optimizer", **known)


def test_a_slow_loader_is_told_with_its_time_and_its_line() -> None:
    slow = wait(1.0, "_SingleProcessDataLoaderIter", Place("/home/me/train.py", 12))
    (found,) = of_kind("slow loader", window=window(slow, step(0.5)))
    assert found.title == "steps wait for the DataLoader: 250 ms in each"
    assert found.cause == (
        "50% of the time in steady steps passes in its __next__, called at /home/me/train.py:12"
    )
    assert (found.cost.per_step, found.cost.saves_at_most) == (
        Figure(0.25, "measured"),
        Figure(1.0, "measured"),
    )
    assert found.evidence.records == ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",)
    assert "num_workers=N" in found.remedies[0].text
    assert of_kind("slow loader", window=window(wait(0.19))) == []
    assert of_kind("slow loader", window=window(step(1.9))) == []
    assert of_kind("slow loader") == []


def test_several_loaders_are_waited_for_together_and_one_with_workers_has_other_advice() -> None:
    (found,) = of_kind("slow loader", window=window(wait(0.12), wait(0.12, "_MultiProcessingDataLoaderIter")))
    assert found.title == "steps wait for the DataLoader: 60 ms in each"
    assert found.cause == "12% of the time in steady steps passes in its __next__"
    assert found.remedies[0].text.startswith("its workers do not keep up")


def test_an_eager_optimizer_has_its_share_of_the_profiled_steps() -> None:
    (found,) = of_optimizer(step(0.5), wait(0.1))
    assert found.title == "the step of torch.optim.adamw.AdamW runs eager; 125 ms of each step, 25% of it"
    assert found.cause == "it is called outside of what is compiled"
    assert (found.cost.per_step, found.cost.saves_at_most) == (
        Figure(0.125, "measured"),
        Figure(0.5, "measured"),
    )
    assert of_optimizer(step(0.5), graphs=[replace(TRAINS, optimizer_steps=("adam.py",))]) == []


def test_a_share_that_the_window_does_not_tell_is_not_recorded() -> None:
    """No window; none of its steps in it; two classes that torch marks with the same name."""
    other = Optimizer(name="AdamW", module="bitsandbytes.optim", file="other.py")
    for found in (
        of_optimizer(window=None),
        of_optimizer(step(0.5, "SGD")),
        of_optimizer(wait(0.5)),
        of_optimizer(step(0.5), optimizers=[ADAMW, other]),
    ):
        assert found[0].title == "the step of torch.optim.adamw.AdamW runs eager"
        assert {figure.known for figure in vars(found[0].cost).values()} == {"not recorded"}


def test_a_class_within_a_function_is_marked_by_its_last_name() -> None:
    (found,) = of_optimizer(
        step(0.5, "Mine"),
        optimizers=[Optimizer(name="make.<locals>.Mine", module="__main__", file="train.py")],
    )
    assert found.title.endswith("Mine runs eager; 125 ms of each step, 25% of it")


def test_what_the_closure_of_a_step_calls_of_graphs_is_not_the_optimizers() -> None:
    (found,) = of_optimizer(step(1.5, in_graphs=1.0))
    assert found.cost.saves_at_most == Figure(0.5, "estimated")
    assert found.cause.endswith("; its time holds what its closure does outside of compiled graphs")

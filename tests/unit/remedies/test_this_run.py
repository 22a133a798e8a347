"""What is compiled in another thread than the main one, and what a run had already."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dynamo_core.case import Case
from dynamo_core.findings import find
from dynamo_core.model import (
    BreakExplanation,
    CompileId,
    Frame,
    GraphBreak,
    Place,
    ProcessInfo,
    Run,
    StackFrame,
)
from dynamo_core.model.run import RunSettings
from dynamo_core.remedies.rules import Advice, Assignment, Change
from dynamo_core.remedies.this_run import not_in_use
from dynamo_core.shared.settings import advised_settings_of, settings_read
from dynamo_reporters.breaks import breaks_of
from dynamo_reporters.recompiles import recompiles_of
from support.made import compiled, of_one_process
from support.made_findings import reasons, recompile


@pytest.mark.parametrize(
    ("torch_version", "threads", "begins"),
    [
        ("2.13.0", ["worker", "worker"], "in thread `worker`, which has settings of its own, set `torch."),
        ("2.13.0", ["worker-0", "worker-1"], "in each thread that compiles it, which has settings of its"),
        ("2.13.0", ["worker", None], "set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`"),
        ("2.8.0", ["worker", "worker"], "set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`"),
    ],
)
def test_a_setting_is_advised_for_the_thread_that_compiles(
    torch_version: str, threads: Sequence[str | None], begins: str
) -> None:
    """Numbers on a module that differ, in a function that was compiled again twice."""
    of_a_number = {"kind": "value", "source": "self.scale", "expected": "1", "actual": "2"}
    frames = [
        Frame("f", Place("/x/train.py", 3), "compiled", None, False, False, CompileId(0, n), thread=name)
        for n, name in enumerate(threads, 1)
    ]
    recording = of_one_process(
        torch_version=torch_version,
        frames=frames,
        compiles=[recompile(1), recompile(2)],
        recompile_reasons=[reasons(n, **of_a_number) for n in (1, 2)],
    )
    (found,) = find(recording)
    assert any(each.text.startswith(begins) for each in found.remedies)
    (listed,) = recompiles_of(Case(recording)).frames
    assert any(each.removeprefix("or ").startswith(begins) for each in listed.advice)


def test_a_variable_for_a_break_names_the_thread_where_a_call_is_to_be_made() -> None:
    at = Place("/x/train.py", 5)
    why = BreakExplanation(
        at, "Unsupported Tensor.item() call with capture_scalar_outputs=False", "", (), "GB0229"
    )
    stack = (StackFrame(at, "f", "return x * x.sum().item()"),)
    met = GraphBreak("item", stack, CompileId(0, 0), why)
    compiled = Frame("f", at, "compiled", None, False, False, CompileId(0, 0), thread="worker")
    listed = breaks_of(Case(of_one_process(torch_version="2.13.0", frames=[compiled], breaks=[met]))).breaks
    assert listed is not None and "in thread `worker`, before the first call)" in (listed[0].advice or "")


@pytest.mark.parametrize(
    ("config", "environment", "is_advised"),
    [
        ([], {}, True),
        (["torch._dynamo.config.capture_scalar_outputs=True"], {}, False),
        ([], {"TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": "1"}, False),
        ([], {"TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": "0"}, True),
    ],
)
def test_what_the_run_had_already_is_not_advised_again(
    config: list[str], environment: dict[str, str], is_advised: bool
) -> None:
    recording = of_one_process(
        Run(settings=RunSettings(config=config)), info=ProcessInfo(pid=1, environment=environment)
    )
    advised = [
        Advice(
            "set it", Change(settings=(Assignment("torch._dynamo.config.capture_scalar_outputs", "True"),))
        ),
        Advice("set it", Change(environment=(Assignment("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "1"),))),
        Advice("write it otherwise"),
    ]
    left = not_in_use(advised, recording)
    assert left[-1] == advised[-1]
    assert (len(left) == len(advised)) is is_advised


def test_what_the_program_had_set_itself_is_not_advised_again() -> None:
    name = "torch._dynamo.config.allow_unspec_int_on_nn_module"
    config = '{"accumulated_recompile_limit": 256, "allow_unspec_int_on_nn_module": true}'
    advised = [Advice("set it", Change(settings=(Assignment(name, "True"),)))]
    for settings in (advised_settings_of(config), advised_settings_of(settings_read(config))):
        recording = of_one_process(compiles=[replace(compiled(0), settings=settings)])
        assert not_in_use(advised, recording) == ()
    recording = of_one_process(compiles=[replace(compiled(0), settings=advised_settings_of("{}"))])
    assert not_in_use(advised, recording) == tuple(advised)

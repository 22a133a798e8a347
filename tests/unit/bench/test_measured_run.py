"""What `dynamo bench` reads of a run: its steps, and what marking one took."""

from dynamo_core.bench.measured import Step, read_run
from dynamo_core.model import CudaGraphNoted, Place, ProcessInfo
from dynamo_core.shared.timing import Load
from support.made import FIRST, called, of_one_process

LOAD = Load(1.0, 2.0)


def test_the_marks_of_steps_are_read_with_what_each_took() -> None:
    marked = of_one_process(step_marks=called([1, 2, 4]), step_mark_seconds=1e-6)
    run = read_run(marked, None, "", False, LOAD)
    assert (run.steps, run.mark_seconds) == (3, 1e-6)
    assert run.marks == {1: 1_000_000, 2: 2_000_000, 3: 4_000_000}


def test_a_run_without_marks_has_no_steps() -> None:
    run = read_run(of_one_process(info=ProcessInfo(pid=1)), None, "", False, LOAD)
    assert (run.steps, run.mark_seconds, run.marks) == (0, 0.0, {})


def test_graphs_without_cuda_graphs_are_told_with_torchs_reason() -> None:
    skipped = CudaGraphNoted(FIRST, "skipped", reason="skipping cudagraphs due to cpu device (x)")
    run = read_run(of_one_process(cuda_graphs=[skipped]), None, "", False, LOAD)
    assert run.without_cuda_graphs == "1 graph (cpu device (x))"
    assert read_run(of_one_process(), None, "", False, LOAD).without_cuda_graphs is None


def test_a_step_that_only_dynamo_knows_is_told_from_one_of_the_program() -> None:
    here = Place("/home/me/train.py", 3)
    own = Step("step", here, (("/home/me/train.py", 3, "step"),))
    dynamos = Step("step", here, (("/x/torch/_dynamo/eval_frame.py", 3, "inner"),))
    assert not own.is_of_dynamo and dynamos.is_of_dynamo

"""The figures of `dynamo bench`, from runs made up by hand."""

import csv
import io
import re
from dataclasses import replace
from math import isclose
from pathlib import Path

import pytest

from dynamo_core.bench import runs
from dynamo_core.bench.comparison import break_even_steps, compare, steady_steps
from dynamo_core.bench.graphs import GraphTimes
from dynamo_core.bench.measured import Agreement, Backend, Bench, Run, Step
from dynamo_core.bench.runs import Plan, RunTimes, remaining_words
from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.model import Place
from dynamo_core.shared.settings import Settings
from dynamo_core.shared.timing import Load
from dynamo_core.shared.winners import Measurement, Round
from dynamo_reporters.bench import bench_blocks
from dynamo_reporters.bench_document import bench_document, speedups_csv
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.blocks import Table
from dynamo_reporters.page.console import plain_text

MILLISECOND = 1_000_000


def run(step_ms: float, *, steps: int = 20, compiling: tuple[int, int] | None = None, **more: object) -> Run:
    """A run with even steps; `compiling` are the step numbers between which something was compiled."""
    moments = {number: 10**18 + round(number * step_ms * MILLISECOND) for number in range(1, steps + 1)}
    interval = () if compiling is None else ((moments[compiling[0]] + 1, moments[compiling[1]] - 1),)
    return Run(marks=moments, steps=steps, compiling=interval, **more)  # type: ignore[arg-type]


def bench(*others: Backend, eager: tuple[float, ...] = (10.0, 12.0, 11.0)) -> Bench:
    first = Backend("eager", runs={i: run(ms, stdout="loss 1.0\n") for i, ms in enumerate(eager, 1)})
    step = Step("step", Place("train.py", 3), (("train.py", 3, "step"),))
    return Bench("train", len(eager), [first, *others], step)


def backend(*milliseconds: float, name: str = "inductor", **more: object) -> Backend:
    runs = {number: run(ms, stdout="loss 1.0\n", **more) for number, ms in enumerate(milliseconds, 1)}  # type: ignore[arg-type]
    return Backend(name, runs=runs)


class TestSpeedUp:
    def test_break_even(self) -> None:
        assert break_even_steps(3.0, 0.010, 0.007) == 1000
        assert break_even_steps(3.0, 0.010, 0.010) is None
        assert break_even_steps(None, 0.010, 0.007) is None

    @pytest.mark.parametrize(
        ("milliseconds", "why"),
        [((5, 20, 9), "not surely faster"), ((20, 24, 22), "never"), ((5, 6, 5.5), "not recorded")],
    )
    def test_why_it_is_not_known_after_how_many_steps_compiling_has_paid(
        self, milliseconds: tuple[float, ...], why: str
    ) -> None:
        page = plain_text(bench_blocks(bench(backend(*milliseconds))))
        (row,) = [
            line for line in page.partition("Compiling and memory")[0].splitlines() if "  inductor  " in line
        ]
        assert row.endswith(f"  {why}")
        made = bench(backend(*milliseconds))
        made.no_step = "nothing is called often enough"
        for one in made.backends:
            one.runs = {i: replace(each, working_seconds=1.0 + i) for i, each in one.runs.items()}
        assert "no steps seen" in plain_text(bench_blocks(made))

    @pytest.mark.parametrize(("working", "says_so"), [(0.5, True), (5.0, False)])
    def test_a_run_shorter_than_compiling_cannot_pay_for_it(self, working: float, says_so: bool) -> None:
        made = bench(backend(5, 6, 5.5, compile_seconds=1.0))
        for one in made.backends:
            one.runs = {i: replace(each, working_seconds=working) for i, each in one.runs.items()}
        assert ("no speed-up pays for it" in plain_text(bench_blocks(made))) is says_so

    def test_what_cannot_pay_for_compiling_is_not_called_undecided_alone(self) -> None:
        """Steps that may be a little faster save less than compiling took, however that is decided."""
        made = bench(backend(9.231, 10.643, 9.374, compile_seconds=65.0))
        for one in made.backends:
            one.runs = {i: replace(each, working_seconds=100.0) for i, each in one.runs.items()}
        page = plain_text(bench_blocks(made))
        assert page.startswith("A run of this length does not pay for compiling with inductor; for longer")
        assert re.search(r"Compiling with inductor took 65\.00 s, .* takes 100 s in eager, of which", page)
        assert "Undecided" not in page

    def test_where_it_breaks_or_recompiles_the_command_that_says_why_is_named(self) -> None:
        said = "`dynamo run` and `dynamo explain` say what breaks and recompiles"
        assert said not in plain_text(bench_blocks(bench(backend(5, 6, 5.5))))
        assert said in plain_text(bench_blocks(bench(backend(5, 6, 5.5, recompiles=8))))

    def test_a_backend_that_ran_graphs_without_cuda_graphs_is_named(self) -> None:
        page = plain_text(bench_blocks(bench(backend(5, 6, 5.5, without_cuda_graphs="1 graph (cpu device)"))))
        assert "ran 1 graph (cpu device) without CUDA graphs" in page

    def test_bounds_that_say_nothing_are_not_spelled_out(self) -> None:
        page = plain_text(bench_blocks(bench(backend(5, 500), eager=(10, 10))))
        assert "< 0.01 to > 100" in page

    @pytest.mark.parametrize(
        ("milliseconds", "decided"),
        [((5, 6, 5.5), True), ((10, 12, 11), True), ((5, 20, 9), False), ((9.231, 10.643, 9.374), False)],
    )
    def test_more_rounds_are_for_what_is_not_decided(
        self, milliseconds: tuple[float, ...], decided: bool
    ) -> None:
        """Twice as fast, the same, anything, and what is faster with 95 % confidence but not with 99 %."""
        assert compare(bench(backend(*milliseconds)))[1].is_decided is decided

    @pytest.mark.parametrize(("milliseconds", "rounds"), [([5.0] * 9, 3), ([5.0, 20.0, 9.0] * 3, 7)])
    def test_as_many_as_decide_and_no_more_than_asked_for(
        self, monkeypatch: pytest.MonkeyPatch, milliseconds: list[float], rounds: int
    ) -> None:
        class FakeRuns:
            def __init__(self, plan: Plan, announce: object) -> None:
                self.rounds = plan.rounds

            def expect(self, rounds: int, undecided: int = 0) -> None:
                self.rounds = rounds

            def look(self, result: Bench) -> None:
                result.no_step, result.threads = "nothing repeats", (2,)

            def measure(self, name: str, number: int, frames: object) -> Run:
                own = 10.0 if name == "eager" else milliseconds[number - 1]
                return Run(working_seconds=own + number / 100)

        monkeypatch.setattr(runs, "_Runs", FakeRuns)
        request = Request(Program(("x.py",), is_python=True), Settings(recording=""))
        backends = {"eager": request, "inductor": request}
        plan = Plan(request, backends, 3, 7, Path("r"), Path("c"), verify=False)
        made = runs.bench(plan, lambda *what: None)
        assert (made.rounds, len(made.backends[1].runs), made.threads) == (rounds, rounds, (2,))

    def test_rounds_that_do_not_decide_and_a_busy_machine_are_on_the_page(self) -> None:
        made = bench(backend(5, 20, 9))
        made.most_rounds = made.rounds
        for one in made.backends:
            one.runs = {i: replace(each, load=Load(0.48, 0.9)) for i, each in one.runs.items()}
        page = plain_text(bench_blocks(made))
        assert "3 rounds do not decide, with 99 % confidence, how inductor compares with eager" in page
        assert "others used 48 % (48 to 48) of its processors' time" in page
        assert json_value(bench_document(made))["backends"][1]["runs"][0]["others_share"] == 0.48
        made.is_interrupted = True
        assert "do not decide" not in plain_text(bench_blocks(made)), "more rounds were to come"
        made.is_interrupted, made.most_rounds = False, made.rounds + 1
        assert "do not decide" not in plain_text(bench_blocks(made))
        made = bench(backend(5, 6, 5.5))
        made.most_rounds = made.rounds
        page = plain_text(bench_blocks(made))
        assert "do not decide" not in page and "busy" not in page


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("inductor", None),
        ("eager", None),
        ("inductor:max-autotune", "max-autotune"),
        ("inductor:max-autotune+eager", None),
    ],
)
def test_the_mode_is_that_of_a_backend_alone(name: str, mode: str | None) -> None:
    assert runs._mode(name) == mode


class TestHowLongItTakesYet:
    def test_a_first_run_counts_only_while_there_is_no_other(self) -> None:
        times = RunTimes(["eager", "inductor"])
        times.add("eager", 4.0)
        assert times.of({"eager": 2, "inductor": 1}) is None, "a backend that has not run yet"
        times.add("inductor", 60.0)
        assert times.of({"eager": 2, "inductor": 1}) == 68.0
        for took in (10.0, 12.0):
            times.add("inductor", took)
        assert times.of({"eager": 2, "inductor": 3}) == 8 + 33
        assert (times.of({"eager": 0, "inductor": 0}), times.rounds("inductor")) == (0, 3)

    def test_it_says_how_long_all_rounds_would_take(self) -> None:
        assert remaining_words(None, 9.0, 15) is None
        assert remaining_words(41.4, 170.0, 15) == "about 41 s more, 3 min if it takes all 15 rounds"
        assert remaining_words(41.4, 41.4, 5) == "about 41 s more"


class TestSteps:
    def test_same_steps_without_the_first_and_those_with_a_compile(self) -> None:
        found = steady_steps([run(10), run(5, compiling=(4, 6))])
        assert found is not None
        assert found[:3] == [(2, 3), (3, 4), (6, 7)]

    def test_unequal_counts_are_not_compared(self) -> None:
        assert steady_steps([run(10), run(5, steps=19)]) is None
        figures = compare(bench(backend(5, 5, 5, steps=19)))[1]
        assert figures.basis == "run"
        assert figures.why_run == "eager begins 20 steps, inductor 19"

    def test_runs_without_steps_compare_their_work(self) -> None:
        eager = Backend("eager", runs={1: Run(working_seconds=4.0), 2: Run(working_seconds=4.0)})
        other = Backend("inductor", runs={1: Run(working_seconds=2.0), 2: Run(working_seconds=2.0)})
        figures = compare(Bench("x", 2, [eager, other], no_step="nothing repeats"))[1]
        assert (figures.basis, figures.why_run, figures.seconds) == ("run", "nothing repeats", (2.0, 2.0))
        assert figures.speed_up is not None and isclose(figures.speed_up.estimate, 2)
        assert figures.break_even is None

    def test_what_noting_a_step_took_is_not_the_programs(self) -> None:
        eager = Backend("eager", runs={1: run(10, mark_seconds=0.002)})
        figures = compare(Bench("x", 1, [eager], Step("f", Place("x", 1), ())))[0]
        assert isclose(figures.seconds[0], 0.008)


class TestComparison:
    def test_figures(self) -> None:
        other = backend(5, 6, 5.5, compiling=(1, 2), compile_seconds=1.0, peaks={"resident": 10, "cuda:0": 7})
        eager, inductor = compare(bench(other))
        assert eager.speed_up is None
        assert inductor.speed_up is not None and isclose(inductor.speed_up.estimate, 2, rel_tol=1e-6)
        assert inductor.median_seconds is not None and isclose(inductor.median_seconds, 0.0055)
        assert (inductor.compile_cold, inductor.compile_warm) == (1.0, 1.0)
        assert inductor.break_even == round(1.0 / (0.011 - 0.0055))
        assert (inductor.peak_resident, inductor.peak_cuda) == (10, 7)

    def test_a_round_that_failed_makes_no_pair(self) -> None:
        other = backend(5, 6, 5.5)
        other.runs[2] = Run(problem="exit code 1")
        figures = compare(bench(other))[1]
        assert figures.speed_up is not None and figures.speed_up.rounds == 2
        assert figures.backend.problem == "exit code 1"

    def test_a_backend_that_always_fails_has_no_figures(self) -> None:
        other = Backend("mine", runs={number: Run(problem="killed by SIGSEGV") for number in (1, 2, 3)})
        figures = compare(bench(other))[1]
        assert (figures.seconds, figures.speed_up, figures.output) == ((), None, None)
        page = plain_text(bench_blocks(bench(other)))
        assert "mine: killed by SIGSEGV (every round)" in page

    def test_compile_time_of_a_first_round_that_failed_is_not_known(self) -> None:
        other = backend(5, 6, 5.5, compile_seconds=1.0)
        other.runs[1] = Run(problem="exit code 1", compile_seconds=9.0)
        assert compare(bench(other))[1].compile_cold is None


class TestOutputs:
    def test_what_was_not_kept_was_not_compared(self) -> None:
        page = plain_text(bench_blocks(bench(backend(5, 5, is_stdout_cut=True))))
        assert "the first 4 MiB are the same" in page


class TestReport:
    def test_verdict(self) -> None:
        page = plain_text(bench_blocks(bench(backend(5, 6, 5.5, compile_seconds=1.1))))
        assert page.startswith("inductor is 2.00 times as fast as eager (95 %: 2.00 to 2.00); 200 steps pay")

    def test_after_how_many_steps_compiling_pays_stands_beside_those_of_this_run(self) -> None:
        heading = plain_text(bench_blocks(bench(backend(5, 6, 5.5, compile_seconds=1.1)))).partition("\n")[0]
        assert heading.endswith("; 200 steps pay for compiling, and this run has 20.")

    def test_noise_pays_for_nothing(self) -> None:
        noisy = backend(5, 20, 9, compile_seconds=1.0)
        assert compare(bench(noisy))[1].break_even is None
        page = plain_text(bench_blocks(bench(noisy)))
        assert page.startswith("Undecided: ") and "never" not in page

    def test_what_takes_the_same_time_pays_for_nothing(self) -> None:
        same = compare(bench(backend(10.01, 11.98, 10.99, compile_seconds=1.0)))[1]
        assert (same.is_decided, same.differs, same.break_even) == (True, False, None)
        page = plain_text(bench_blocks(bench(backend(10.01, 11.98, 10.99, compile_seconds=1.0))))
        assert page.startswith("inductor takes as long as eager, within 3 %: it is ")

    def test_what_95_percent_tell_and_99_do_not_is_undecided(self) -> None:
        close = backend(9, 9.5, 9.3, compile_seconds=1.0)
        figures = compare(bench(close))[1]
        assert figures.speed_up is not None and figures.speed_up.differs and figures.is_decided is False
        assert figures.break_even is None
        page = plain_text(bench_blocks(bench(close)))
        assert page.startswith("Undecided: inductor is ") and "with 99 % confidence it may differ" in page

    def test_one_that_is_not_faster(self) -> None:
        page = plain_text(bench_blocks(bench(backend(20, 24, 22, compile_seconds=1.0))))
        assert page.startswith("No backend is faster than eager; inductor is 0.50 times as fast as eager")
        assert "never" in page

    def test_one_that_may_be_faster_is_not_before_one_that_is(self) -> None:
        page = plain_text(bench_blocks(bench(backend(1, 20, 5, name="mine"), backend(8, 9.6, 8.8))))
        assert page.startswith("inductor is 1.25 times as fast as eager")

    def rows(self, made: Bench, title: str) -> list[str]:
        """The rows of the table under a title, without its headings."""
        _, _, rest = plain_text(bench_blocks(made)).partition(f"{title}\n")
        table, _, _ = rest.partition("\n\n")
        return [" ".join(line.split()) for line in table.splitlines()[1 : len(made.backends) + 1]]

    def test_the_first_round_compiles_and_the_others_find_what_it_compiled(self) -> None:
        runs = [run(ms, stdout="", compile_seconds=s) for ms, s in ((5, 3.0), (6, 0.5), (5.5, 0.7))]
        three, one, none = (
            Backend(name, runs=dict(enumerate(chosen, 1)))
            for name, chosen in (("three", runs), ("one", runs[:1]), ("none", [run(5), run(5)]))
        )
        assert self.rows(bench(three, one, none), "Compiling and memory") == [
            "eager not recorded",
            "three 3.00 s 600 ms not recorded not recorded not recorded not recorded",
            "one 3.00 s one round not recorded not recorded not recorded not recorded",
            "none not recorded not recorded not recorded not recorded not recorded not recorded",
        ]

    def test_counts_and_peaks_are_of_runs_that_succeeded(self) -> None:
        peaks = {"resident": 2_000_000_000, "cuda:0": 7_000_000}
        other = backend(
            5, 6, 5.5, compile_seconds=1.0, peaks=peaks, graphs=1200, graph_breaks=0, recompiles=3
        )
        other.runs[1] = Run(problem="exit code 1")
        failing = Backend("mine", runs={1: Run(problem="exit code 1")})
        assert self.rows(bench(other, failing), "Compiling and memory")[:2] == [
            "eager not recorded not recorded",
            "inductor not recorded 1.00 s 1,200 0 3 2,000 MB 7 MB",
        ]

    def test_the_times_of_each_backend_stand_beside_eagers(self) -> None:
        failing = Backend("mine", runs={1: Run(problem="exit code 1")})
        made = bench(backend(5, 6, 5.5), Backend("none", runs={1: Run()}), failing)
        assert self.rows(made, "Time") == [
            "eager 11 ms 10 ms, 12 ms 1",
            "inductor 5.5 ms 5 ms, 6 ms 2.00 2.00 to 2.00 not recorded",
            "none not recorded",
            "mine failed",
        ]
        assert self.rows(bench(backend(5), eager=(10.0,)), "Time")[1].endswith("2.00 one round not recorded")

    def test_it_says_what_was_run_and_what_a_step_is(self) -> None:
        made = bench(backend(5, 6, 5.5))
        made.threads = (2, 1)
        _, said, *_ = plain_text(bench_blocks(made)).splitlines()
        assert said == (
            "train, 3 rounds, each backend in a process of its own, in turn. A step begins with step "
            "train.py:3. torch had 2 threads or 1 thread."
        )
        made.is_interrupted, made.rounds, made.threads = True, 5, ()
        made.step = replace(made.step, called_at=Place("loop.py", 9)) if made.step is not None else None
        _, said, *_ = plain_text(bench_blocks(made)).splitlines()
        assert said == (
            "train, 3 rounds of 5, each backend in a process of its own, in turn. A step begins with step, "
            "called at loop.py:9. Interrupted: what is missing was not run."
        )

    @pytest.mark.parametrize(("name", "is_above"), [("a" * 16, False), ("a" * 17, True)])
    def test_a_long_name_of_a_backend_stands_above_its_figures(self, name: str, is_above: bool) -> None:
        made = [*bench_blocks(bench(backend(5, 6, 5.5, name=name)))]
        tables = [each for each in made if isinstance(each, Table)][:2]
        assert [each.columns[0].is_above for each in tables] == [is_above] * 2

    def test_what_failed_is_said_with_its_rounds(self) -> None:
        other, only = backend(5, 6, 5.5), Backend("only", runs={1: Run(problem="killed by SIGSEGV")})
        other.runs |= {number: Run(problem="exit code 1") for number in (1, 3)}
        page = plain_text(bench_blocks(bench(other, only)))
        assert "- inductor: exit code 1 (round 1, 3 of 3)" in page
        assert "- only: killed by SIGSEGV (the only round)" in page

    def test_a_machine_that_is_a_little_busy_is_not_called_so(self) -> None:
        made = bench(backend(5, 6, 5.5))
        for others, waiting, said in (
            (0.1, 0.5, ""),
            (0.11, None, "others used 11 % (11 to 11) of its processors' time. The speed-up"),
            (0.11, 0.4, "time, and something waited for a processor in 40 % (40 to 40) of the time."),
        ):
            for one in made.backends:
                one.runs = {i: replace(each, load=Load(others, waiting)) for i, each in one.runs.items()}
            page = plain_text(bench_blocks(made))
            assert said in page and ("busy" in page) is bool(said)

    def test_what_two_that_are_wrong_compute_is_said_in_the_plural(self) -> None:
        wrong = [backend(2, 2, 2, name=name) for name in ("one", "two")]
        for each in wrong:
            each.agreement = Agreement("disagrees", "graph 1")
        heading = plain_text(bench_blocks(bench(*wrong))).partition("\n")[0]
        assert heading == "one and two compute something else than eager, so no speed-up counts."

    def test_disagreement_is_on_the_page(self) -> None:
        wrong = backend(5, 6, 5.5)
        wrong.agreement = Agreement("disagrees", "graph 1, output 0, node sin")
        page = plain_text(bench_blocks(bench(wrong)))
        assert "disagrees" in page and "node sin" in page

    def test_one_that_is_wrong_is_not_the_fastest(self) -> None:
        wrong, right = backend(2, 2, 2, name="wrong"), backend(5, 6, 5.5)
        wrong.agreement = Agreement("disagrees", "graph 1")
        heading = plain_text(bench_blocks(bench(wrong, right))).partition("\n")[0]
        assert heading.startswith("inductor is 2.00 times")
        assert heading.endswith("wrong computes something else than eager; see Agreement with eager.")

    def test_where_the_only_one_is_wrong_its_speed_does_not_count(self) -> None:
        wrong = backend(2, 2, 2, name="wrong")
        wrong.agreement = Agreement("disagrees", "graph 1")
        heading = plain_text(bench_blocks(bench(wrong))).partition("\n")[0]
        assert heading == "wrong computes something else than eager, so no speed-up counts."

    def test_eager_that_differs_from_itself_is_told(self) -> None:
        made = bench(backend(5, 6, 5.5))
        made.eager.runs[2] = run(12, stdout="loss 3.0\n")
        assert "Does the program set its seeds?" in plain_text(bench_blocks(made))

    def test_interrupted(self) -> None:
        made = bench(backend(5))
        made.is_interrupted = True
        assert "Interrupted" in plain_text(bench_blocks(made))


class TestGraphByGraph:
    def graph(self, *seconds: float | None) -> GraphTimes:
        names = ("eager", "inductor")
        measurements = {
            name: Measurement(name, "agrees", None, 1.0, (Round(each, None),) * 20)
            if each is not None
            else Measurement(name, "crashed", "killed by SIGSEGV")
            for name, each in zip(names, seconds, strict=True)
        }
        return GraphTimes(1, "forward", Place("train.py", 3), 5, 20, None, measurements)

    def test_fastest_is_told_beyond_noise(self) -> None:
        assert self.graph(2e-5, 1e-5).fastest == "inductor"
        assert self.graph(1e-5, 0.99e-5).fastest == "eager"
        held_up = Measurement("inductor", "agrees", None, 1.0, (Round(1e-5, None, 1.0, False),) * 20)
        graph = self.graph(1e-5, 2e-5)
        assert replace(graph, measurements={**graph.measurements, "inductor": held_up}).fastest is None
        assert self.graph(1e-5, None).fastest == "eager"

    def test_page(self) -> None:
        made = bench(backend(5, 6, 5.5))
        made.graphs = [self.graph(2e-5, 1e-5), self.graph(1e-5, None)]
        made.graphs.append(GraphTimes(3, None, None, None, None, "it has no program"))
        page = plain_text(bench_blocks(made))
        assert "graph 1, inductor crashed: killed by SIGSEGV" in page
        assert "graph 3: it has no program" in page
        made.graphs.pop()
        made.graphs.pop()
        assert "no graph was compiled" not in plain_text(bench_blocks(made))
        made.graphs.clear()
        assert "- no graph was compiled" in plain_text(bench_blocks(made))
        made.graphs = [self.graph(2e-5, 1e-5), self.graph(1e-5, None)]
        made.graphs.append(GraphTimes(3, None, None, None, None, "it has no program"))
        assert [each["fastest"] for each in json_value(bench_document(made))["graphs"]] == [
            "inductor",
            "eager",
            None,
        ]


def test_the_output_of_the_first_run_is_compared_and_of_eager_that_of_its_second() -> None:
    def printing(name: str, *outputs: str) -> Backend:
        return Backend(name, runs={number: run(5, stdout=text) for number, text in enumerate(outputs, 1)})

    def likeness(eager: Backend, other: Backend) -> list[str | None]:
        made = replace(bench(other), backends=[eager, other])
        return [None if each.output is None else each.output.likeness for each in compare(made)]

    steady = printing("eager", "a", "a", "b")
    assert likeness(steady, printing("inductor", "b", "a")) == ["same", "different"]
    assert likeness(steady, printing("inductor", "a", "b")) == ["same", "same"]
    assert likeness(printing("eager", "a"), printing("inductor")) == [None, None]


def test_csv_has_a_row_a_backend() -> None:
    failed = Backend("mine", runs={1: Run(problem="exit code 1, boom")})
    text = speedups_csv(
        bench(Backend("inductor:max-autotune", "max-autotune", backend(5, 6, 5.5).runs), failed)
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["backend"] for row in rows] == ["eager", "inductor:max-autotune", "mine"]
    assert rows[0]["speed_up"] == ""
    assert rows[1]["mode"] == "max-autotune" and isclose(float(rows[1]["speed_up"]), 2)
    assert rows[2]["problem"] == "exit code 1, boom" and rows[2]["median_seconds"] == ""


def test_document_does_not_name_recordings_that_are_gone() -> None:
    made = bench(backend(5, 6, 5.5, recording="/tmp/gone"))
    assert json_value(bench_document(made))["backends"][1]["runs"][0]["recording"] is None
    made.recordings = "kept"
    assert json_value(bench_document(made))["backends"][1]["runs"][0]["recording"] == "/tmp/gone"

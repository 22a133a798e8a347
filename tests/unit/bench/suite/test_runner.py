"""A suite's file, its rows and what they amount to, without running anything."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.bench.comparison import Speed
from dynamo_core.bench.measured import Machine
from dynamo_core.bench.suite.file import (
    Bounds,
    Suite,
    SuiteProgram,
    broken_bounds_of_program,
    broken_bounds_of_suite,
    read_suite,
)
from dynamo_core.bench.suite.results import (
    Difference,
    differences,
    on_other_hardware,
    read_results,
    results_folder,
    undecided,
)
from dynamo_core.bench.suite.rows import Outcome, ProgramResult, Row, pass_rates, summarize
from dynamo_core.bench.suite.runner import Compared, Installed, JudgedSuite, SuiteRun, judge_suite
from dynamo_core.launch.program import Program
from dynamo_core.shared.errors import BackendProblem, DynamoError, ProgramNotFound, SuiteProblem
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import document as as_json
from dynamo_reporters.suite import report, suite_blocks, suite_csv
from support.schemas import validate


def row(backend: str = "inductor", mean: float | None = 2.0, reach: float | None = 0.1, **more: Any) -> Row:
    speed = None if mean is None else Speed(mean, None, None, 1)
    if mean is not None and reach is not None:
        speed = Speed(mean, mean - reach, mean + reach, 3)
    outcome: Outcome = more.pop("outcome", "passed")
    return Row(backend, outcome, speed_up=speed, **more)


def result(
    name: str, *rows: Row, skipped: str | None = None, machine: Machine | None = None
) -> ProgramResult:
    return ProgramResult(name, f"{name}.py", "key", skipped, rows, 1.0, "2026-01-01T12:00:00+0000", machine)


def machine(host: str, cpu: str = "EPYC", *gpus: str, threads: int = 8) -> Machine:
    devices = (f"cpu: 8 cores, {threads} threads", *(f"cuda:{i}: {name}" for i, name in enumerate(gpus)))
    return Machine(host, cpu, devices, "3.11.7", "2.13.0")


def results(rows: Mapping[str, Row]) -> list[ProgramResult]:
    return [result(name, each) for name, each in rows.items()]


FAILED = row(mean=None, outcome="failed", problem="exit code 1, boom", log="bert/inductor-1.stderr")


class TestFile:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in ("a.py", "b.py", "_helper.py"):
            (tmp_path / name).write_text("print(1)\n")
        return tmp_path

    def read(self, folder: Path, text: str, **given: Any) -> Suite:
        (folder / "suite.toml").write_text(text)
        return read_suite(folder / "suite.toml", given)

    def test_a_program_has_the_suites_choices_where_it_has_none(self, folder: Path) -> None:
        suite = self.read(
            folder,
            'backends = ["inductor"]\nrepeat = 2\n[bounds]\nmin-speed-up = 1\nmin-pass-rate = 1\n'
            '[programs.one]\nrun = "a.py --size 3"\n'
            '[programs.two]\nrun = ["b.py", "a b"]\nrepeat = 7\nbounds = { min-speed-up = 2 }\n',
        )
        one, two = suite.programs
        assert one.program.arguments == (str(folder / "a.py"), "--size", "3")
        assert two.program.arguments[1:] == ("a b",)
        assert one.choices.backends == ("eager", "inductor")
        assert (one.choices.repeat, two.choices.repeat) == (2, 7)
        assert (one.bounds.min_speed_up, two.bounds.min_speed_up) == (1, 2)
        assert (suite.bounds.min_pass_rate, one.bounds.min_pass_rate) == (1, None)

    def test_it_is_called_as_its_file_or_as_the_folder_of_a_file_without_a_name_of_its_own(
        self, folder: Path
    ) -> None:
        text = '[programs.one]\nrun = "a.py"\n'
        assert self.read(folder, text).name == folder.name == read_suite(folder).name
        (folder / "nightly.toml").write_text(text)
        assert read_suite(folder / "nightly.toml").name == "nightly"

    def test_the_command_line_comes_first(self, folder: Path) -> None:
        text = 'repeat = 2\n[programs.one]\nrun = "a.py"\nrepeat = 3\n'
        assert self.read(folder, text, repeat=9).programs[0].choices.repeat == 9

    def test_a_folder_is_a_suite_of_its_programs(self, folder: Path) -> None:
        assert [program.name for program in read_suite(folder).programs] == ["a", "b"]

    @pytest.mark.parametrize(
        ("text", "kind", "line"),
        [
            (
                "repeats = 3",
                SuiteProblem,
                "has 'repeats', which is not known; did you mean 'repeat'?",
            ),
            ("repeat = 0", SuiteProblem, "repeat is not a whole number from 1"),
            ("time-limit = true", SuiteProblem, "time-limit is not a number above 0"),
            ("time-limit = 1" + "0" * 400, SuiteProblem, "time-limit is not a number above 0"),
            ("[", SuiteProblem, "is no TOML"),
            ("", SuiteProblem, "has no programs"),
            ("[programs.x]", SuiteProblem, "[programs.x]: run names no program"),
            ('[programs.x]\nrun = ["x.py", 3]', SuiteProblem, "[programs.x]: run names no program"),
            ('[programs.x]\nrun = "a.py\'"', SuiteProblem, "run: No closing quotation"),
            ('[programs.x]\nrun = "a.py"\nneed = []', SuiteProblem, "did you mean 'needs'?"),
            ('[programs.x]\nrun = "c.py"', ProgramNotFound, "[programs.x]: no such file"),
            ('[programs."../x"]\nrun = "a.py"', SuiteProblem, "a name has letters"),
            ('[programs.".."]\nrun = "a.py"', SuiteProblem, "a name has letters"),
            (
                '[programs.x]\nrun = "a.py"\nbackends = ["a,,b"]',
                BackendProblem,
                "names a backend with no name",
            ),
            ('[programs.x]\nrun = "a.py"\ncapture = "none"', SuiteProblem, "capture is none of auto"),
            ("bounds = { min-speedup = 1 }", SuiteProblem, "did you mean 'min-speed-up'?"),
            ("bounds = { min-speed-up = -1 }", SuiteProblem, "min-speed-up is not a number from 0"),
            (
                '[programs.x]\nrun = "a.py"\nbounds = { min-pass-rate = 1 }',
                SuiteProblem,
                "'min-pass-rate', which is not known",
            ),
        ],
    )
    def test_what_is_wrong_is_one_line(
        self, folder: Path, text: str, kind: type[DynamoError], line: str
    ) -> None:
        with pytest.raises(kind) as raised:
            self.read(folder, text)
        assert line in str(raised.value) and "\n" not in str(raised.value)

    def test_no_suite(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteProblem, match="there is no suite at"):
            read_suite(tmp_path / "none.toml")
        with pytest.raises(SuiteProblem, match=r"has neither suite\.toml nor programs"):
            read_suite(tmp_path)


class TestSummary:
    def test_the_mean_is_geometric_and_of_those_that_pass(self) -> None:
        eager = row("eager", None)
        [of_eager, of_inductor] = summarize(
            [
                result("a", eager, row(mean=8.0)),
                result("b", eager, row(mean=0.5)),
                result("c", eager, row(mean=100.0, outcome="disagrees")),
                result("d", eager, FAILED),
                result("e", skipped="timm is not installed"),
            ]
        )
        assert of_inductor.geometric_mean == pytest.approx(2.0)
        assert (of_inductor.programs, of_inductor.passed, of_inductor.pass_rate) == (4, 2, 0.5)
        assert (of_inductor.faster, of_inductor.slower, of_inductor.failed) == (1, 1, 1)
        assert of_eager.passed == 4 and of_eager.geometric_mean is None

    def test_one_round_is_neither_faster_nor_slower(self) -> None:
        [summary] = summarize([result("a", row(reach=None))])
        assert (summary.faster, summary.slower) == (0, 0)
        assert summary.geometric_mean == pytest.approx(2.0)

    def test_no_mean_is_taken_over_machines_that_differ(self) -> None:
        """Threads are the program's own; what ran on the CPU of a machine with a GPU ran there."""
        summaries = summarize(
            [
                result("a", row(mean=2.0), machine=machine("first", threads=1)),
                result("b", row(mean=8.0), machine=machine("second")),
                result("c", row(mean=3.0), machine=machine("third", "EPYC", "H100")),
                result("d", row(mean=12.0), machine=machine("third")),
            ]
        )
        found = [(each.hardware, each.programs, round(each.geometric_mean or 0, 6)) for each in summaries]
        assert found == [("EPYC", 2, 4.0), ("EPYC, H100", 2, 6.0)]
        [alone] = summarize([result("a", row(), machine=machine("first"))])
        assert alone.hardware is None


class TestComparison:
    @pytest.mark.parametrize(
        ("before", "after", "change"),
        [
            (row(mean=2.0), row(mean=1.7), "slower"),
            (row(mean=2.0), row(mean=1.85), None),  # the intervals meet
            (row(mean=1.7), row(mean=2.0), "faster"),
            (row(reach=None), row(mean=0.1), None),
            (row(), FAILED, "newly failing"),
            (row(), row(outcome="disagrees"), "newly failing"),
            (FAILED, row(), "passes now"),
            (FAILED, FAILED, None),
        ],
    )
    def test_a_row(self, before: Row, after: Row, change: str | None) -> None:
        found = differences([result("a", before)], [result("a", after)])
        assert [each.change for each in found] == ([] if change is None else [change])

    def test_the_worst_comes_first(self) -> None:
        before = {"a": row(mean=1.0), "b": row(mean=3.0), "c": row(), "d": row()}
        after = {"a": row(mean=2.0), "b": row(mean=2.0), "c": FAILED, "e": row()}
        found = [(each.program, each.change) for each in differences(results(before), results(after))]
        assert found == [
            ("c", "newly failing"),
            ("b", "slower"),
            ("d", "gone"),
            ("a", "faster"),
            ("e", "new"),
        ]

    def test_what_has_no_interval_is_counted(self) -> None:
        assert undecided([result("a", row(reach=None))], [result("a", row())]) == 1

    @pytest.mark.parametrize(
        "after", [machine("b", "Xeon"), machine("a", threads=2), machine("a", "EPYC", "H100")]
    )
    def test_other_hardware_is_not_compared_but_a_failure_is(self, after: Machine) -> None:
        before = [result(name, row(mean=3.0), machine=machine("a")) for name in ("slower", "failing")]
        now = [result("slower", row(mean=2.0), machine=after), result("failing", FAILED, machine=after)]
        [found] = differences(before, now)
        assert (found.program, found.change) == ("failing", "newly failing")
        assert (undecided(before, now), on_other_hardware(before, now)) == (0, 1)

    def test_the_same_hardware_on_another_host_is_compared(self) -> None:
        before = [result("a", row(mean=3.0), machine=machine("first"))]
        now = [result("a", row(mean=2.0), machine=machine("second"))]
        assert [each.change for each in differences(before, now)] == ["slower"]
        assert on_other_hardware(before, now) == 0


class TestBounds:
    def beyond(self, found: Row, **bounds: float) -> list[tuple[str, str]]:
        return [
            (each.bound, each.found)
            for each in broken_bounds_of_program(result("a", found), Bounds(**bounds))
        ]

    def test_a_speed_up_fails_where_all_of_its_interval_is_below(self) -> None:
        assert self.beyond(row(mean=1.0), min_speed_up=1.05) == []
        assert self.beyond(row(mean=0.9), min_speed_up=1.05) == [("min-speed-up", "0.9")]

    def test_what_was_not_measured_keeps_no_bound(self) -> None:
        assert self.beyond(FAILED, min_speed_up=0.1, max_graph_breaks=100) == [
            ("min-speed-up", "not measured"),
            ("max-graph-breaks", "not measured"),
        ]

    def test_counts(self) -> None:
        assert self.beyond(row(graph_breaks=2), max_graph_breaks=2) == []
        assert self.beyond(row(graph_breaks=2), max_graph_breaks=1) == [("max-graph-breaks", "2")]

    def test_of_all(self) -> None:
        results = [result("a", row(mean=1.1)), result("b", FAILED)]
        summaries, rates = summarize(results), pass_rates(results)
        found = [
            each.bound
            for each in broken_bounds_of_suite(
                summaries, rates, Bounds(min_geometric_mean=1.2, min_pass_rate=1)
            )
        ]
        assert found == ["min-geometric-mean", "min-pass-rate"]
        assert (
            list(broken_bounds_of_suite(summaries, rates, Bounds(min_geometric_mean=1.1, min_pass_rate=0.5)))
            == []
        )

    def test_of_all_on_several_machines(self) -> None:
        """A program whose worker was lost has no machine, and no mean of its own."""
        results = [
            result("a", row(mean=2.0), machine=machine("first")),
            result("b", row(mean=1.1), machine=machine("second", "Xeon")),
            result("c", FAILED),
        ]
        summaries, rates = summarize(results), pass_rates(results)
        [found] = broken_bounds_of_suite(summaries, rates, Bounds(min_geometric_mean=1.2, min_pass_rate=0.6))
        assert (found.bound, found.hardware, found.found) == ("min-geometric-mean", "Xeon", "1.1")
        assert len(summarize([results[0], results[2]])) == 1


class TestResultsFolder:
    def test_a_program_is_kept_until_something_changes(self, tmp_path: Path) -> None:
        path = tmp_path / "results"
        kept = result("a", row("eager", None), row(graphs=1), FAILED)
        with results_folder(path, "mine", starts_over=False) as folder:
            assert folder.result("a", "key") is None
            folder.keep(kept)
        with results_folder(path, "mine", starts_over=False) as folder:
            assert folder.result("a", "key") == kept
            assert folder.result("a", "another key") is None
            (path / "rows" / "a.json").write_text("{")
            assert folder.result("a", "key") is None  # damaged: measured again
            folder.keep(kept)
        assert read_results(path) == [kept]
        with results_folder(path, "mine", starts_over=True) as folder:
            assert folder.result("a", "key") is None

    def test_somebody_elses_folder_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("x")
        with (
            pytest.raises(DynamoError, match="holds something else than a suite's results"),
            results_folder(tmp_path, "mine", starts_over=True),
        ):
            pass
        assert [each.name for each in tmp_path.iterdir()] == ["thesis.tex"]

    def test_so_is_that_of_another_suite_and_one_in_use(self, tmp_path: Path) -> None:
        path = tmp_path / "results"
        with results_folder(path, "mine", starts_over=False):
            for suite, line in (("other", "results of the suite 'mine'"), ("mine", "is in use by another")):
                with (
                    pytest.raises(DynamoError, match=line),
                    results_folder(path, suite, starts_over=False),
                ):
                    pass

    def test_older_results_that_are_none(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text('{"schema": "dynamo-bench"}')
        for path, line in (
            (tmp_path / "x.json", "is no JSON report of"),
            (tmp_path, "holds no results of a suite"),
            (tmp_path / "none", "there are no results at"),
        ):
            with pytest.raises(SuiteProblem, match=line):
                read_results(path)


class TestReport:
    """Two programs that ran, one of them with a backend that failed, and one that was not run."""

    RESULTS = [
        result("resnet", row("eager", None, median_seconds=0.02), row(median_seconds=0.01, graphs=1)),
        result("bert", row("eager", None), FAILED),
        result("mixer", skipped="timm is not installed"),
    ]

    @pytest.fixture
    def found(self) -> JudgedSuite:
        names = [each.program for each in self.RESULTS]
        programs = tuple(SuiteProgram(name, Program((f"{name}.py",), True)) for name in names)
        suite = Suite("mine", Path("suite.toml"), Path(), programs, Bounds(min_pass_rate=1))
        before = [result("resnet", row("eager", None), row(mean=3.0))]
        return judge_suite(SuiteRun(suite, self.RESULTS, Installed("2.13.0"), kept=1), "older.json", before)

    def test_the_page(self, found: JudgedSuite) -> None:
        page = " ".join(plain_text(suite_blocks(found, "results")).split())
        for line in (
            "inductor is 2.00 times as fast as eager, the geometric mean of 1 program;",
            "; 1 of 2 programs passes.",
            "1 program was measured earlier",
            "inductor: min-pass-rate = 1, found 0.5",
            "resnet under inductor: slower: 3.00 (2.90 to 3.10) then, 2.00 (1.90 to 2.10) now",
            "bert under inductor: exit code 1, boom; log: bert/inductor-1.stderr",
            "mixer: timm is not installed",
        ):
            assert line in page

    def test_a_speed_up_of_one_round_is_told_without_bounds(self) -> None:
        """Then or now."""
        once, often = Speed(1.5, None, None, 1), Speed(3.0, 2.9, 3.1, 3)
        for before, after, said in (
            (once, often, "1.50 then, 3.00 (2.90 to 3.10) now"),
            (often, once, "3.00 (2.90 to 3.10) then, 1.50 now"),
        ):
            change = Difference("resnet", "inductor", "slower", before, after)
            compared = Compared("older.json", (change,), 1, 2)
            page = " ".join(plain_text(suite_blocks(self.of(row(), compared=compared), "results")).split())
            assert f"resnet under inductor: slower: {said}" in page
            assert "1 row could not be compared: one round has no interval (--repeat)." in page
            assert "2 rows could not be compared: measured on other hardware" in page

    def test_nothing_that_changed_is_said_to_be_so(self) -> None:
        page = plain_text(suite_blocks(self.of(row(), compared=Compared("older.json", (), 0, 0)), "results"))
        assert "Nothing became slower or faster beyond both intervals, and nothing newly fails." in page
        assert "could not be compared" not in page

    def of(self, *rows: Row, compared: Compared | None = None) -> JudgedSuite:
        found = [result("resnet", *rows)]
        suite = Suite("mine", Path("s.toml"), Path(), (SuiteProgram("resnet", Program(("x.py",), True)),))
        return replace(judge_suite(SuiteRun(suite, found, Installed("2.13.0")), None, []), compared=compared)

    def test_each_row_of_speed_and_of_cost(self) -> None:
        rows = (
            row("eager", None, median_seconds=0.02, basis="step", peak_bytes=1e9, graphs=None),
            row(
                median_seconds=0.01, basis="step", compile_cold_seconds=3.0, graphs=1200, peak_cuda_bytes=5e6
            ),
            row("once", 1.5, None, median_seconds=0.03, agreement="agrees"),
            row("none", None, outcome="passed"),
            row("bad", None, outcome="failed", problem="boom", median_seconds=None),
        )
        lines = [
            " ".join(each.split()) for each in plain_text(suite_blocks(self.of(*rows), "r")).splitlines()
        ]
        at = lines.index("Speed-up over eager") + 2
        assert lines[at : at + 4] == [
            "resnet inductor step 20 ms 10 ms 2.00 1.90 to 2.10",
            "resnet once 20 ms 30 ms 1.50 one round agrees",
            "resnet none 20 ms not recorded not measured",
            "resnet bad 20 ms failed",
        ]
        at = lines.index("Compiling and memory") + 2
        assert lines[at : at + 2] == [
            "resnet eager 1,000 MB not recorded",
            "resnet inductor 3.00 s not recorded 1,200 not recorded not recorded not recorded 5 MB",
        ]
        assert "- resnet under bad: boom" in lines

    def test_eager_alone_is_said_to_be_the_only_backend(self) -> None:
        page = plain_text(suite_blocks(self.of(row("eager", None, median_seconds=0.02)), "r"))
        assert page.startswith("1 of 1 program passes under eager, the only backend.")
        failed = plain_text(suite_blocks(self.of(row("eager", None, outcome="failed")), "r"))
        assert failed.startswith("No program of the suite could be measured.")

    def test_the_page_of_several_machines(self) -> None:
        found = [
            result("resnet", row("eager", None), row(), machine=machine("first")),
            result("bert", row("eager", None), row(), machine=machine("second", "Xeon")),
        ]
        programs = tuple(SuiteProgram(each.program, Program(("x.py",), True)) for each in found)
        suite = Suite("mine", Path("suite.toml"), Path(), programs)
        run = SuiteRun(suite, found, Installed("2.13.0"))
        page = " ".join(plain_text(suite_blocks(judge_suite(run, None, []), "results")).split())
        assert "inductor is 2.00 times as fast as eager on EPYC, the geometric mean of 1 program" in page
        assert "inductor is 2.00 times as fast as eager on Xeon, the geometric mean of 1 program" in page
        assert "second Xeon, 8 cores, 8 threads 3.11.7 2.13.0 bert" in page

    def test_the_document(self, found: JudgedSuite) -> None:
        document = as_json(report("results"), found)
        validate(document)
        assert document["in_all"] == 3 and document["kept"] == 1
        assert document["programs"][1]["rows"][1]["speed_up"] is None
        changes = [each["change"] for each in document["compared"]["differences"]]
        assert changes == ["slower", "new", "new"]

    def test_the_document_can_be_compared_with(self, found: JudgedSuite, tmp_path: Path) -> None:
        (tmp_path / "older.json").write_text(json.dumps(as_json(report("results"), found)))
        assert read_results(tmp_path / "older.json") == self.RESULTS

    def test_a_row_of_csv_for_each(self, found: JudgedSuite) -> None:
        rows = list(csv.DictReader(io.StringIO(suite_csv(found.run.results))))
        assert [(each["program"], each["backend"], each["outcome"]) for each in rows] == [
            ("resnet", "eager", "passed"),
            ("resnet", "inductor", "passed"),
            ("bert", "eager", "passed"),
            ("bert", "inductor", "failed"),
            ("mixer", "", "not run"),
        ]
        assert (rows[1]["speed_up"], rows[3]["speed_up"]) == ("2.0", "")

    def test_what_fails_in_eager_fails_in_all(self) -> None:
        names = ("eager", "a", "b")
        broken = [row(name, None, outcome="failed", problem="boom", log="x.stderr") for name in names]
        page = plain_text(suite_blocks(self.of(*broken), "r"))
        assert "- resnet: boom; log: x.stderr\n" in page
        assert "- resnet under a, b: boom; log: x.stderr\n" in plain_text(
            suite_blocks(self.of(row("eager", None), *broken[1:]), "r")
        )

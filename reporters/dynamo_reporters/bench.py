"""`dynamo bench`: the page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from dynamo_core.analysis.words import count_text, frame_name, number, place, seconds
from dynamo_core.bench.comparison import MARGIN, Basis, Figures, compare
from dynamo_core.bench.graphs import GraphTimes
from dynamo_core.bench.measured import LONGEST_OUTPUT, Bench, OutputComparison
from dynamo_core.shared.timing import Ratio
from dynamo_core.shared.winners import AGREES, Measurement

from .bench_document import bench_document
from .page.blocks import Block, Bullets, Column, Estimate, Heading, Paragraph, Table, section, table
from .parts.measured import factor, interval, megabytes, speed_ups_drawn
from .report import Report

# What a call of each graph takes with each backend, measured on the compiled callables: the page.


def graph_times_blocks(graphs: Sequence[GraphTimes]) -> Iterator[Block]:
    """A row a graph, a column a backend."""
    yield Heading("Graph by graph")
    backends = list(dict.fromkeys(name for graph in graphs for name in graph.measurements))
    if backends:
        trains = any(each.backward_seconds for graph in graphs for each in graph.measurements.values())
        yield Paragraph(
            "What a call of the compiled graph itself takes, on made-up inputs of the recorded shapes"
            + (", its backward included." if trains else "."),
            "dim",
        )
        columns = [Column("graph", True), Column("calls", True), *(Column(name, True) for name in backends)]
        measured = [graph for graph in graphs if graph.measurements]
        yield Table(
            [*columns, Column("fastest"), Column("from")], [_row(graph, backends) for graph in measured]
        )
    problems = [f"graph {graph.number}: {graph.problem}" for graph in graphs if graph.problem is not None]
    problems += [
        f"graph {graph.number}, {name} {each.verdict}: {each.reason}"
        for graph in graphs
        for name, each in graph.measurements.items()
        if each.verdict != AGREES
    ]
    yield Bullets(problems or ([] if graphs else ["no graph was compiled"]), "warning")


def _row(graph: GraphTimes, backends: Sequence[str]) -> list[str]:
    return [
        str(graph.number),
        count_text(graph.calls),
        *(_cell(graph.measurements.get(name)) for name in backends),
        graph.fastest or "undecided",
        f"{frame_name(graph.frame)} {place(graph.place)}",
    ]


def _cell(measurement: Measurement | None) -> str:
    if measurement is None:
        return ""
    return seconds(measurement.seconds) if measurement.verdict == AGREES else measurement.verdict


_OF: dict[Basis, str] = {"step": "a step", "run": "the run"}
_BUSY = 0.1  # the share of the processors from which on others make the machine busy
_LONGEST_NAME = 16  # of a backend beside its figures


def report() -> Report[Bench]:
    """The report of `dynamo bench`."""
    return Report("bench", bench_blocks, bench_document)


def bench_blocks(bench: Bench) -> Iterator[Block]:
    """The page as blocks."""
    figures = compare(bench)
    yield Heading(_verdict(bench, figures), 1)
    yield from _cannot_pay(bench, figures)
    yield Paragraph(_what_was_done(bench, figures))
    yield Heading("Time")
    yield _times(figures)
    yield from speed_ups_drawn(_estimates(figures))
    yield from _explained(figures)
    yield from _what_limits_it(bench, figures)
    yield Heading("Compiling and memory")
    yield _costs(figures)
    if any(run.graph_breaks or run.recompiles for each in figures if (run := each.first_success) is not None):
        yield Paragraph("`dynamo run` and `dynamo explain` say what breaks and recompiles, and what to do.")
    if bench.graphs is not None:
        yield from graph_times_blocks(bench.graphs)
    yield from _agreement(figures)
    yield from _failures(bench)
    if bench.recordings is not None:
        yield Heading("More")
        yield Paragraph(f"dynamo explain | profile | graphs  {bench.recordings}/…", "dim")


def _verdict(bench: Bench, figures: list[Figures]) -> str:
    """The fastest of those that do not disagree with eager, and those that do."""
    wrong = [each.backend.name for each in figures if each.backend.agreement.verdict == "disagrees"]
    disagree = f" {_listed(wrong)} something else than eager; see Agreement with eager." if wrong else ""
    right = [each for each in figures if each.backend.name not in wrong]
    speeds = [(each, each.speed_up) for each in right if each.speed_up is not None]
    if not speeds and wrong:
        return f"{_listed(wrong)} something else than eager, so no speed-up counts."
    if not speeds:
        return "No backend could be compared with eager."
    sure = [pair for pair in speeds if pair[0].differs is not False and pair[1].estimate > 1]
    best, speed = max(sure or speeds, key=lambda pair: pair[1].estimate)
    text = f"{best.backend.name} is {_times_as_fast(speed)}"
    if best.basis == "run":
        text += ", by the whole run and not by its steps (see below)"
    if best.differs is False and speed.interval is not None:
        between = f"{interval(*speed.interval)} times as fast as eager (95 %)"
        if best.is_decided:
            within = f"within {100 * MARGIN:.0f} %"
            return f"{best.backend.name} takes as long as eager, {within}: it is {between}.{disagree}"
        unsure = ", and with 99 % confidence it may differ in nothing" if speed.differs else ""
        average = f"{factor(speed.estimate)} on average{unsure}"
        name = best.backend.name
        undecided = "Undecided"
        if _does_not_pay(bench, best):
            pays = f"A run of this length does not pay for compiling with {name}"
            undecided = f"{pays}; for longer ones undecided"
        return f"{undecided}: {name} is {between}; {average}.{disagree}"
    if speed.estimate < 1:
        return f"No backend is faster than eager; {text}.{disagree}"
    return f"{text}{_pays(best)}.{disagree}"


def _listed(names: list[str]) -> str:
    return f"{' and '.join(names)} {'computes' if len(names) == 1 else 'compute'}"


def _times_as_fast(speed: Ratio) -> str:
    text = f"{factor(speed.estimate)} times as fast as eager"
    if speed.interval is None:
        return f"{text} (one round, so no interval)"
    return f"{text} (95 %: {interval(*speed.interval)})"


def _pays(figures: Figures) -> str:
    """After how many steps, beside those of this run."""
    steps, run = figures.break_even, figures.first_success
    if steps is None:
        return ""
    own = "" if run is None or not run.steps else f", and this run has {run.steps:,}"
    return f"; {number(steps, 'step')} pay for compiling{own}"


def _cannot_pay(bench: Bench, figures: list[Figures]) -> Iterator[Block]:
    """Where compiling takes longer than all that there is to win in a run like this one."""
    for each in figures[1:]:
        run, most = _eager_seconds(bench), _most_saved(bench, each)
        if run is not None and most is not None and _does_not_pay(bench, each):
            saves = (
                f", of which {each.backend.name} saves {seconds(most)} at most (95 %)" if most < run else ""
            )
            yield Paragraph(
                f"Compiling with {each.backend.name} took {seconds(each.compile_cold)}, and the whole run, "
                f"without imports, takes {seconds(run)} in eager{saves}: in a run of this length no "
                "speed-up pays for it.",
                "strong",
            )


def _does_not_pay(bench: Bench, figures: Figures) -> bool:
    """Whether a first run is surely slower for its compiling; not where its steps are slower themselves."""
    most, speed = _most_saved(bench, figures), figures.speed_up
    if most is None or figures.compile_cold is None:
        return False
    is_slower = speed is not None and bool(figures.is_decided) and speed.estimate < 1
    return figures.compile_cold > most and not is_slower


def _most_saved(bench: Bench, figures: Figures) -> float | None:
    """The most seconds that a run can save by the speed-up's interval; all of them where there is none."""
    run, speed = _eager_seconds(bench), figures.speed_up
    if run is None or speed is None or speed.interval is None:
        return run
    return max(0.0, run * (1 - 1 / speed.interval[1]))


def _eager_seconds(bench: Bench) -> float | None:
    """The median seconds of a whole run of eager, without imports."""
    known = [run.working_seconds for run in bench.eager.successes.values() if run.working_seconds is not None]
    return median(known) if known else None


def _what_was_done(bench: Bench, figures: list[Figures]) -> str:
    done = max((len(each.backend.runs) for each in figures), default=0)
    text = (
        f"{bench.program}, {number(done, 'round')} of {bench.rounds}"
        if bench.is_interrupted
        else (f"{bench.program}, {number(done, 'round')}")
    )
    text += ", each backend in a process of its own, in turn."
    if bench.step is not None and any(each.basis == "step" for each in figures):
        call = bench.step.called_at
        where = f" {place(bench.step.place)}" if call is None else f", called at {place(call)}"
        text += f" A step begins with {bench.step.name}{where}."
    if bench.threads:
        text += f" torch had {' or '.join(number(each, 'thread') for each in bench.threads)}."
    return text + (" Interrupted: what is missing was not run." if bench.is_interrupted else "")


def _times(figures: list[Figures]) -> Table:
    bases = {each.basis for each in figures if each.seconds}
    rows = [
        [
            each.backend.name,
            *([_OF[each.basis]] if len(bases) > 1 else []),
            *_time_cells(each),
            *_speed_cells(each),
            _pays_after(each),
        ]
        for each in figures
    ]
    headings = "|of" if len(bases) > 1 else ""
    return _by_backend(f"backend{headings}|{_median_of(bases)}>|from, to>|speed-up>|95 %|pays after>", rows)


def _estimates(figures: list[Figures]) -> Iterator[Estimate]:
    for each in figures:
        if each.speed_up is not None and each.speed_up.interval is not None:
            yield Estimate(each.backend.name, each.speed_up.estimate, *each.speed_up.interval)


def _median_of(bases: set[Basis]) -> str:
    return _OF[next(iter(bases))] if len(bases) == 1 else "median"


def _by_backend(headings: str, rows: list[list[str]]) -> Table:
    """A table whose first column names backends: on lines of their own, where a name is long."""
    plain = table(headings, rows)
    is_long = any(len(row[0]) > _LONGEST_NAME for row in rows)
    first, *others = plain.columns
    return Table([replace(first, is_above=is_long), *others], rows)


def _time_cells(figures: Figures) -> tuple[str, str]:
    if not figures.seconds:
        return ("failed" if figures.backend.problem else "not recorded"), ""
    return seconds(
        figures.median_seconds
    ), f"{seconds(min(figures.seconds))}, {seconds(max(figures.seconds))}"


def _speed_cells(figures: Figures) -> tuple[str, str]:
    speed = figures.speed_up
    if speed is None:
        return ("1" if figures.backend.is_eager else ""), ""
    if speed.interval is None:
        return factor(speed.estimate), "one round"
    return factor(speed.estimate), interval(*speed.interval)


def _pays_after(figures: Figures) -> str:
    if figures.backend.is_eager:
        return ""
    if figures.break_even is not None:
        return number(figures.break_even, "step")
    speed = figures.speed_up
    if speed is None:
        return ""  # it has no times to compare
    if figures.basis == "run":
        return "no steps seen"
    if figures.differs is False:
        return "not surely faster"
    return "never" if speed.estimate <= 1 else "not recorded"


def _explained(figures: list[Figures]) -> Iterator[Block]:
    """What the times are of."""
    steps = {each.steps_compared for each in figures if each.steps_compared is not None}
    if steps:
        fewest, most = min(steps), max(steps)
        counted = number(most, "step") if fewest == most else f"{fewest:,} to {most:,} steps"
        yield Paragraph(
            f"The time of a round is the median over {counted}, the same ones in every run, without the "
            "first and those in which anything was compiled. The speed-up is eager's time by the backend's "
            "in the same round, the geometric mean over rounds, from ten on without the fifth at each end.",
            "dim",
        )
    others = figures[1:] or figures
    for why in dict.fromkeys(each.why_run for each in others if each.why_run is not None):
        yield Paragraph(
            "No steps were compared; whole runs were, without imports, compiling and interpreter shutdown: "
            f"{why}.",
            "warning",
        )


def _what_limits_it(bench: Bench, figures: list[Figures]) -> Iterator[Block]:
    """What a backend did not take, whether the rounds were enough, and what else went on in the machine."""
    for each in figures:
        if (run := each.first_success) is not None and run.untaken is not None:
            yield Paragraph(
                f"{each.backend.name} did not take {run.untaken}: what it did not take ran eager.", "warning"
            )
        if run is not None and run.without_cuda_graphs is not None:
            yield Paragraph(
                f"{each.backend.name} ran {run.without_cuda_graphs} without CUDA graphs: `dynamo explain` "
                "of a run with it says what to do.",
                "warning",
            )
    undecided = [each.backend.name for each in figures if each.is_decided is False]
    if undecided and bench.rounds == bench.most_rounds and not bench.is_interrupted:
        yield Paragraph(
            f"{number(bench.rounds, 'round')} do not decide, with 99 % confidence, how "
            f"{' and '.join(undecided)} compares with eager. What decides: a machine that does nothing else, "
            "or more rounds (--repeat).",
            "warning",
        )
    runs = [run for each in figures for run in each.backend.runs.values()]
    others = [run.load.others for run in runs if run.load.others is not None]
    if others and median(others) > _BUSY:
        text = f"The machine was busy: others used {_shares(others)} of its processors' time"
        waiting = [run.load.waiting for run in runs if run.load.waiting is not None]
        if waiting:
            text += f", and something waited for a processor in {_shares(waiting)} of the time"
        yield Paragraph(f"{text}. The speed-up is what it was beside that.", "warning")


def _shares(values: list[float]) -> str:
    low, middle, high = (100 * each for each in (min(values), median(values), max(values)))
    return f"{middle:.0f} % ({low:.0f} to {high:.0f})"


def _costs(figures: list[Figures]) -> Table:
    has_cuda = any(each.peak_cuda is not None for each in figures)
    headings = "backend|cold>|warm>|graphs>|breaks>|recompiles>|peak memory>"
    return _by_backend(
        headings + ("|on the GPU>" if has_cuda else ""),
        [
            [
                each.backend.name,
                *_compile_cells(each),
                *_count_cells(each),
                megabytes(each.peak_resident),
                *([megabytes(each.peak_cuda)] if has_cuda else []),
            ]
            for each in figures
            if each.first_success is not None
        ],
    )


def _compile_cells(figures: Figures) -> tuple[str, str]:
    if figures.backend.is_eager:
        return "", ""
    one_round = figures.compile_warm is None and figures.compile_cold is not None
    return seconds(figures.compile_cold), "one round" if one_round else seconds(figures.compile_warm)


def _count_cells(figures: Figures) -> list[str]:
    run = figures.first_success
    if figures.backend.is_eager:
        return ["", "", ""]
    counts = (None, None, None) if run is None else (run.graphs, run.graph_breaks, run.recompiles)
    return [count_text(count) for count in counts]


def _agreement(figures: list[Figures]) -> Iterator[Block]:
    others = [each for each in figures if not each.backend.is_eager]
    if not others:
        return
    yield Heading("Agreement with eager")
    yield table(
        "backend|outputs of its graphs|the program's stdout",
        [[each.backend.name, each.backend.agreement.verdict, output_text(each)] for each in others],
    )
    details = [
        f"{each.backend.name}: {each.backend.agreement.detail}"
        for each in others
        if each.backend.agreement.detail is not None
    ]
    yield Bullets(details)
    own = figures[0]
    if own.output is not None and own.output.likeness != "same":
        yield Paragraph(
            f"Eager's own runs do not print the same either: {output_text(own)}. Does the program set its "
            "seeds?",
            "warning",
        )


def output_text(figures: Figures) -> str:
    """How what the program printed compares with eager."""
    output = figures.output
    if output is None:
        return "not recorded"
    if output.likeness == "same":
        return _same(output)
    if output.likeness == "numbers":
        by = f"by {output.relative_difference:.1e} at most, from line {output.line}"
        return f"{_same(output)} but for numbers, {by}"
    return f"different from line {output.line}"


def _same(output: OutputComparison) -> str:
    return f"the first {LONGEST_OUTPUT >> 20} MiB are the same" if output.is_partial else "the same"


def _failures(bench: Bench) -> Iterator[Block]:
    parts = []
    for backend in bench.backends:
        failed = [number for number, run in backend.runs.items() if run.problem is not None]
        if failed:
            parts.append(f"{backend.name}: {backend.problem} ({_rounds(failed, len(backend.runs))})")
    yield from section("What failed", Bullets(parts, "warning"))


def _rounds(failed: list[int], rounds: int) -> str:
    if len(failed) == rounds:
        return "every round" if rounds > 1 else "the only round"
    return f"round {', '.join(map(str, failed))} of {rounds}"

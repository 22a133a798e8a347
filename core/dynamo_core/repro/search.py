"""`dynamo repro`: what to reproduce, from a graph or from the script, shrunk and proven."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..analysis.graphs.program import CONTENTS
from ..fix.trial import script_of
from ..launch.program import default_python
from ..launch.run import Request
from ..model import Graph, Process
from ..recording.files import DEFAULT_FOLDER, default_folder
from ..recording.read import read
from ..shared.errors import NothingSelected, NotReproduced
from ..shared.names import SAVED_CALLS, SAVED_INPUTS
from ..shared.quick_dataclass import dataclass
from .definitions import BackendText, backend_of_file, backend_text, operator_texts
from .failure import Failure, Kind
from .graph_program import GraphProgram, arguments_of, captured_program, with_failure
from .graph_shrinking import GraphShrinker
from .inlining import with_modules_inlined
from .own_passes import OwnPass, without_own_passes
from .proof import Alone, prove, with_versions
from .result import Repro, Tried
from .saved_values import beside, with_values, written_out
from .shrinking import Shrinker
from .source_program import (
    SourceShrinker,
    source_candidate,
    source_text,
    with_assertion,
    with_compile_argument,
    with_double_quotes,
    with_noted_prints,
    with_prints,
    with_what_was_captured,
)
from .trials import BudgetSpent, Candidate, Trials
from .variants import variants, variants_of_values, variants_with_values

_NO_BREAK = 'assert not torch._dynamo.utils.counters["graph_break"]'
# In the order of a compile, with the words of --verify for what each has more than the one before.
_LADDER = {
    "eager": "tracing",
    "aot_eager": "AOTAutograd",
    "aot_eager_decomp_partition": "decompositions",
    "inductor": "inductor",
}
_LIMIT = 60.0  # seconds of a trial
_LEAST_LIMIT, _MANY_TIMES = 10.0, 4.0  # seconds, and times the longest trial that ended, until one hangs
_ATTEMPTS = 8  # of which one that fails one time in three fails in 24 cases of 25
_LAST_RUNS, _OF_UNSTEADY = 6, 14  # runs for which time is kept: four or twelve alone, and the last trials
_LEAST_RUNS, _TO_ASSERT = 2, 2  # before anything is found: one round alone; and a script is to fail by itself
_FOR_SETTINGS = 1 / 8  # of the budget, kept to try settings on what was found
_WRONG: tuple[Kind, ...] = ("wrong result",)
_RAISED: tuple[Kind, ...] = ("exception", "crash", "hang")
# Settings that may avoid a failure, as statements behind the import of torch.
_SETTINGS = {
    "inductor": (
        "torch._inductor.config.emulate_precision_casts = True",
        "torch._inductor.config.pattern_matcher = False",
        "torch._inductor.config.max_fusion_size = 1",
        "torch._inductor.config.cpp.simdlen = 1",
        "torch._inductor.config.fallback_random = True",
    ),
    "AOTAutograd": ("torch._functorch.config.view_replay_for_aliased_outputs = True",),
    "tracing": ("torch._dynamo.config.specialize_float = True",),
}
_OF = re.compile(r"(graph|break|recompile):([1-9]\d{0,5})|exception|wrong-result")


class Of(NamedTuple):
    """What to reproduce: "graph", "break", "recompile" with a number, "exception", "wrong-result", or any."""

    what: Literal["any", "graph", "break", "recompile", "exception", "wrong-result"] = "any"
    number: int = 0

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of failures that are it."""
        of_one: dict[str, tuple[Kind, ...]] = {
            "break": ("graph break",),
            "recompile": ("recompile",),
            "exception": _RAISED,
            "wrong-result": _WRONG,
        }
        return of_one.get(self.what, (*_WRONG, *_RAISED))


def parse_of(text: str) -> Of:
    """The meaning of `--of`; ValueError where it has none."""
    found = _OF.fullmatch(text)
    if found is None:
        raise ValueError("it is graph:N, break:N, recompile:N, exception or wrong-result")
    return Of(found[1] or text, int(found[2] or 0))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Plan:
    """What to reproduce, from the recording of a request's program, within so many seconds.

    Of these, those that were `spent` are over, as for the run that made the recording.
    `inputs` is the folder with the arguments of its graphs' calls, where its own values are asked for.
    """

    request: Request
    recording: Path
    of: Of
    seconds: float
    versions: tuple[str, ...] = ()
    inputs: Path | None = None
    spent: float = 0.0


def reproduce(plan: Plan, announce: Callable[[str], None]) -> Repro:
    """Search, shrink and prove. NotReproduced where nothing fails; Ctrl-C and the budget end it early."""
    return _Search(plan, announce).repro()


class _Search:
    def __init__(self, plan: Plan, announce: Callable[[str], None]) -> None:
        self._plan = plan
        self._announce = announce
        self._began = time.monotonic() - plan.spent
        self._deadline = self._began + plan.seconds
        self._recording = read(plan.recording, CONTENTS)
        self._python = plan.request.python or default_python()
        self._script = script_of(plan.request.program)
        self._reasons: list[str] = []

    def repro(self) -> Repro:
        request = self._plan.request
        with Trials(
            self._python, request.program.import_path(), _LIMIT, self._deadline, self._state(), self._announce
        ) as self._trials:
            self._trials.keep(_LEAST_RUNS, 0.0)
            found = self._found()
            found.text = with_double_quotes(found.text)
            self._announce(f"run alone: {found.size}")
            trials = self._trials
            alone = Alone(found.text, found.values_file)
            passes = self._passes_at_fault(found)
            found.proof = prove(
                *(self._python, alone, found.failure, trials.limit, self._deadline),
                is_steady=trials.attempts == 1,
            )
            found.own_passes = passes if found.is_proven else ()
            found.tried = self._settings(found)
            found.machine = self._trials.machine()
            found.trials = self._trials.done
            found.torch, found.python = self._trials.about["torch"], self._trials.about["python"]
        if self._plan.versions:
            own = (self._python, found.torch or "")
            found.versions, found.problem = with_versions(
                self._plan.versions, own, alone, found.failure, _LIMIT
            )
        found.seconds = time.monotonic() - self._began
        return found

    def _state(self) -> Path | None:
        """The file of what is known of trials of this program, so that a search that was killed goes on."""
        folder = DEFAULT_FOLDER / "repro-trials"
        key = sha256(repr((self._plan.request.program, self._python)).encode()).hexdigest()
        try:
            default_folder()
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            return None
        return folder / f"{key[:16]}.jsonl"

    def _found(self) -> Repro:
        """From the first graph that fails, else from the script."""
        of = self._plan.of
        try:
            for process, graph in () if of.what in ("break", "recompile") else self._graphs():
                found = self._from_graph(process, graph)
                if found is not None:
                    return found
            if of.what == "graph":
                raise self._nothing(f"graph {of.number} gives compiled what plain Python gives")
            return self._from_source()
        except BudgetSpent:
            raise self._nothing("no failure was found within --budget") from None

    def _nothing(self, why: str) -> NotReproduced:
        if self._plan.inputs is None and self._of_verified_graphs():
            self._reasons.append(
                "its graphs were tried with random numbers: --values takes the program's own"
            )
        return NotReproduced("; ".join([f"nothing to reproduce: {why}", *dict.fromkeys(self._reasons)]))

    def _of_verified_graphs(self) -> bool:
        """Whether a call of a graph in the program gave something else than plain Python."""
        calls = (call for each in self._recording.processes for call in each.interventions.verified)
        return any(call.outcome == "disagrees" for call in calls)

    def _graphs(self) -> Iterator[tuple[Process, Graph]]:
        """The graphs to try: those that disagree or failed to compile first."""
        of = self._plan.of
        every = [(process, graph) for process in self._recording.processes for graph in process.graphs]
        if of.what == "graph":
            chosen = [each for each in every if each[1].number == of.number]
            if not chosen:
                listed = ", ".join(str(graph.number) for _, graph in every) or "none"
                raise NothingSelected(f"there is no graph {of.number}; graphs: {listed}")
            return iter(chosen[:1])
        if not self._is_of_graphs():
            return iter(())
        return iter(sorted(every, key=lambda each: not _is_suspect(*each)))

    def _is_of_graphs(self) -> bool:
        """Whether the failure may be in a graph, and not in what was traced, or when an entry is used."""
        calls = [
            call
            for process in self._recording.processes
            for call in process.interventions.verified_program_calls
        ]
        stages = {call.stage for call in calls if call.outcome == "disagrees"}
        return not stages or not stages <= {"tracing", "guards"}

    def _from_graph(self, process: Process, graph: Graph) -> Repro | None:
        try:
            symbols = [each for each in process.symbols if each.compile_id == graph.compile_id]
            program = captured_program(graph, symbols)
            defined = operator_texts(graph.custom_operators, self._plan.request.program.import_path())
            program = replace(program, prelude=(*program.prelude, *defined))
        except NothingSelected as error:
            self._reasons.append(str(error))
            return None
        self._announce(f"graph {graph.number}: {program.size}")
        failing = self._failing_with_values(process, graph, program)
        ways = variants_of_values if _gives_wrong_values(process, graph) else variants
        failing = failing or self._first_failing(program, graph, ways)
        if failing is None and not graph.is_compiled:
            self._announce("it does not fail each time: tried more often")
            self._trials.attempts = _ATTEMPTS
            failing = self._first_failing(program, graph, lambda program: islice(variants(program), 2))
        if failing is None:
            self._trials.attempts = 1
            return None
        program, failure, backend = failing
        found = _begun("graph", f"graph {graph.number}", failure, program.candidate())
        found.stage, found.graph, found.backend = _LADDER.get(backend), graph.number, backend
        shrinker = GraphShrinker(program, failure, self._trials, _keeping(found))
        self._shrink(shrinker, shrinker.shrink, found)
        self._write_values(shrinker.program, found)
        return found

    def _failing_with_values(
        self, process: Process, graph: Graph, program: GraphProgram
    ) -> tuple[GraphProgram, Failure, str] | None:
        """The graph with arguments of one of its calls, where it fails with them."""
        folder = self._plan.inputs
        if folder is None:
            return None
        for call in ("raised", *range(1, SAVED_CALLS + 1)):
            name = SAVED_INPUTS.format(pid=process.info.pid, graph=graph.number, call=call)
            if not (folder / name).exists():
                continue
            try:
                given = with_values(program, arguments_of(graph), folder / name, folder, self._trials)
            except NothingSelected as error:
                self._reasons.append(str(error))
                continue
            failing = self._first_failing(given, graph, variants_with_values)
            if failing is not None:
                return failing
        return None

    def _write_values(self, program: GraphProgram, found: Repro) -> None:
        """Put the program's own values into the text, or in a file beside it."""
        found.values = sum(bool(each.saved) for each in program.inputs)
        if not found.values or self._plan.inputs is None:
            return
        target = self._plan.inputs / "left.pt"
        try:
            program, is_left = written_out(program, target, self._trials)
        except (NothingSelected, BudgetSpent) as error:
            found.problem = str(error)
            return
        found.text = program.text()
        found.values_file = str(target) if is_left else None

    def _first_failing(
        self,
        program: GraphProgram,
        graph: Graph,
        ways: Callable[[GraphProgram], Iterable[GraphProgram]],
    ) -> tuple[GraphProgram, Failure, str] | None:
        """The graph with the first backend of the ladder, and the values, with which it fails."""
        if program.is_random:
            line = "torch._inductor.config.fallback_random = True"
            program = replace(program, prelude=(line, *program.prelude))
        backends = self._backends(graph)
        found = self._first_of(ways(_with_backend(program, backends[-1])))
        if found is None:
            return None
        variant, failure = found
        earlier = self._first_of(_with_backend(variant, each) for each in backends[:-1])
        backend = backends[-1]
        if earlier is not None and earlier[1].kind == failure.kind:
            variant, failure = earlier
            backend = next(each for each in backends if each.argument == variant.backend)
        note = f"  # {failure.type}" if failure.type else ""
        failing = replace(with_failure(variant, failure), note=note)
        return failing, failure, backend.argument.strip('"')

    def _first_of(self, programs: Iterable[GraphProgram]) -> tuple[GraphProgram, Failure] | None:
        """The first of these that fails as is asked for, and how."""
        every = list(programs)
        found = self._trials.first_failing([each.candidate() for each in every], self._plan.of.kinds)
        return None if found is None else (every[found[0]], found[1])

    def _backends(self, graph: Graph) -> list[BackendText]:
        """The backends to try: the stages of torch's compiler up to the graph's, or eager and the user's."""
        ladder = list(_LADDER)
        if graph.backend in ladder:
            return [BackendText(f'"{each}"') for each in ladder[: ladder.index(graph.backend) + 1]]
        import_path = self._plan.request.program.import_path()
        own = None if graph.backend is None else backend_of_file(graph.backend, import_path)
        if own is None and self._script is not None and graph.backend is not None:
            own = backend_text(graph.backend, self._script, import_path)
        if own is None:
            self._reasons.append(f"backend {graph.backend}: its definition is not found in the script")
            return [BackendText('"eager"')]
        return [BackendText('"eager"'), own]

    def _shrink(
        self, shrinker: Shrinker[Any], shrink: Callable[[], None], found: Repro, further_runs: int = 0
    ) -> None:
        trials = self._trials
        trials.keep(_LAST_RUNS + further_runs, self._plan.seconds * _FOR_SETTINGS)
        try:
            if found.failure.kind == "hang":
                trials.limit = min(_LIMIT, max(_LEAST_LIMIT, _MANY_TIMES * trials.longest))
                trials.kept_seconds += 2 * trials.limit
            elif not trials.fails_each_time(Candidate(found.text, found.text, found.size), found.failure):
                trials.attempts, trials.kept_runs = _ATTEMPTS, _OF_UNSTEADY + further_runs
            shrink()
        except BudgetSpent:
            found.stopped = f"the budget of {self._plan.seconds:g} s is spent"
        except KeyboardInterrupt:
            found.stopped = "it was interrupted"
        trials.keep(trials.kept_runs - 2, 0.0)
        with suppress(BudgetSpent):
            shrinker.rename()
            failures = trials.failures(Candidate(found.text, found.text, found.size))
            same = [each for each in failures if found.failure.is_same(each)]
            found.failure = same[0] if same else found.failure  # with the message of the smaller program

    def _from_source(self) -> Repro:
        if self._script is None:
            raise self._nothing("no graph fails, and the program is no script that could be made smaller")
        try:
            text = source_text(with_what_was_captured(self._script, self._recording))
        except (OSError, UnicodeDecodeError, SyntaxError, RecursionError) as error:
            raise self._nothing(f"{self._script} cannot be read: {error}") from error
        arguments = list(self._plan.request.program.arguments[1:])
        if arguments:
            text = f"import sys\nsys.argv[1:] = {arguments!r}\n{text}"
        self._announce(f"script: {source_candidate(text).size}")
        self._trials.keep(_LEAST_RUNS + _TO_ASSERT, 0.0)
        text, failure = self._first_failing_source(text)
        of = self._plan.of
        what = of.what.replace("any", "the script") + (f":{of.number}" if of.number else "")
        found = _begun("source", what, failure, source_candidate(text))
        shrinker = SourceShrinker(text, failure, self._trials, _keeping(found))
        self._shrink(shrinker, lambda: self._shrink_source(shrinker, found), found, _TO_ASSERT)
        self._trials.keep(0, 0.0)
        with suppress(BudgetSpent):
            self._assert(found.text, found)
        return found

    def _first_failing_source(self, text: str) -> tuple[str, Failure]:
        of = self._plan.of
        number = max(of.number, 1)
        alone = with_modules_inlined(text, self._plan.request.program.import_path())
        texts = (alone and source_text(alone), text, _behind_import(text, "torch.manual_seed(0)"))
        for each in filter(None, (*texts, *(with_prints(one) for one in texts if one is not None))):
            found = self._trials.failures(source_candidate(each))
            failures = [failure for failure in found if failure.kind in of.kinds]
            if len(failures) < number:
                continue
            failure = failures[number - 1]
            if failure.kind != "wrong result" or self._trials.is_steady(each):
                return each, failure
            self._reasons.append("in plain Python it prints something else each time")
        if of.what in ("break", "recompile"):
            raise self._nothing(f"the program has no {of.what} {of.number} when it runs again")
        raise self._nothing(
            "compiled with empty caches, the program does and prints what it does in plain Python"
        )

    def _shrink_source(self, shrinker: SourceShrinker, found: Repro) -> None:
        """Take the first backend with which it fails, then shrink."""
        for backend in _LADDER:
            if shrinker.take_first([with_compile_argument(shrinker.program, "backend", backend)]) is not None:
                found.stage, found.backend = _LADDER[backend], backend
                break
        shrinker.shrink()

    def _assert(self, text: str, found: Repro) -> None:
        """Have the program fail by an error of its own, where it only prints something else or breaks."""
        failure = found.failure
        ways: list[str | None] = []
        if failure.kind == "wrong result":
            ways = [self._asserting(text)]
        elif failure.kind == "graph break":
            # With fullgraph=True torch takes `.item()` into the graph: such a break is only counted.
            ways = [with_compile_argument(text, "fullgraph", True), f"{text.rstrip()}\n{_NO_BREAK}\n"]
        elif failure.kind == "recompile":
            ways = [_behind_import(text, "torch._dynamo.config.error_on_recompile = True")]
        for finished in filter(None, ways):
            raised = [
                each
                for each in self._trials.failures(Candidate(finished, finished, found.size))
                if each.kind in (*_WRONG, "exception")
            ]
            if raised:
                found.text, found.failure = finished, raised[0]
                found.size = source_candidate(finished).size
                return

    def _asserting(self, text: str) -> str | None:
        """The text with an assertion in place of its only print, else one of all that it would print."""
        finished = with_assertion(text, self._printed(text))
        noted = with_noted_prints(text)
        if finished is not None and self._trials.failures(Candidate(finished, finished, "")):
            return finished
        return None if noted is None else with_assertion(noted, self._printed(noted))

    def _printed(self, text: str) -> str:
        return str(self._trials.outcome(text, plain=True).get("output", ""))

    def _passes_at_fault(self, found: Repro) -> tuple[OwnPass, ...]:
        """The program's own passes over Inductor's graphs, where it does not fail without them."""
        text, passes = without_own_passes(found.text)
        self._trials.keep(0, 0.0)
        ended = self._trials.outcomes([beside(text, found.values_file)] if passes else [])
        is_steady = self._trials.attempts == 1
        return passes if is_steady and ended and ended[0]["ending"] == "passed" else ()

    def _settings(self, found: Repro) -> list[Tried]:
        """The settings that were tried on the shrunk program."""
        stage = found.stage or ""
        settings: dict[str, str | None] = {}
        for backend in _LADDER if found.backend in (None, "inductor", "aot_eager") else ():
            if backend != found.backend:
                text = with_compile_argument(found.text, "backend", backend)
                settings[f'torch.compile(…, backend="{backend}")'] = text
        settings |= {line: _behind_import(found.text, line) for line in _SETTINGS.get(stage, ())}
        changed = {setting: text for setting, text in settings.items() if text not in (None, found.text)}
        texts = [beside(text, found.values_file) for text in changed.values() if text is not None]
        self._trials.keep(1, 0.0)
        ended = self._trials.outcomes(texts)
        return [Tried(each, how["ending"] == "passed") for each, how in zip(changed, ended, strict=False)]


def _begun(origin: Literal["graph", "source"], of: str, failure: Failure, first: Candidate) -> Repro:
    return Repro(origin, of, failure, first.text, first_size=first.size, size=first.size)


def _keeping(found: Repro) -> Callable[[Candidate], None]:
    """Takes a smaller program into the result."""

    def keep(smaller: Candidate) -> None:
        found.text, found.size = smaller.text, smaller.size

    return keep


def _with_backend(program: GraphProgram, backend: BackendText) -> GraphProgram:
    rest = program.prelude[program.backend_lines :]
    prelude = (*backend.statements, *rest)
    return replace(program, backend=backend.argument, prelude=prelude, backend_lines=len(backend.statements))


def _gives_wrong_values(process: Process, graph: Graph) -> bool:
    """Whether a call of it in the program gave other values than eager, so that it raised no error."""
    calls = (each for each in process.interventions.verified if each.graph == graph.number)
    return any(each.first_wrong is not None for each in calls)


def _is_suspect(process: Process, graph: Graph) -> bool:
    disagrees = {call.graph for call in process.interventions.verified if call.outcome == "disagrees"}
    return graph.number in disagrees or not graph.is_compiled


def _behind_import(text: str, line: str) -> str | None:
    """The text with a statement behind its import of torch; None where it has none."""
    found = re.search(r"^import torch$", text, re.MULTILINE)
    return None if found is None else f"{text[: found.end()]}\n{line}{text[found.end() :]}"

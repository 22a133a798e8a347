"""The kinds of findings, a row each: all that ranking, merging, check, diff and fix go by."""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple, cast, get_args

from ..analysis.summary import summarize
from ..model import Recording

Kind = Literal[
    "wrong result",
    "compiler error",
    "error with compiled code",
    "hook not called",
    "ranks differ",
    "fell back to eager",
    "recompile limit",
    "left eager by dynamo run",
    "graph break",
    "never called",
    "other random numbers",
    "recompile",
    "compiled anew",
    "backend declined",
    "CUDA graphs skipped",
    "many CUDA graphs",
    "overhead-bound graphs",
    "costly guards",
    "never pays back",
    "unrolled loop",
    "unstable key",
    "cold start",
    "caches off",
    "cache bypass",
    "eager optimizer",
    "time outside of graphs",
    "slow loader",
]
Words = tuple[str, str]
"""What one is called, and several."""


class KindSpec(NamedTuple):
    """One kind of finding.

    of_the_compiler: what the compiler made of the program, the same in every run; other kinds rest on times,
        so that `check`, `diff`, `fix` and `pytest --dynamo` do not go by them
    rank: "wrong" where no time decides (a wrong result, an error, a hang, a backend in vain); of unknown
        time, "keeps out" (of graphs) comes first, then "untimed"; within a rank the rows are in order
    of_the_run: true of a run more than of the program: a shorter or a colder run has another figure
    is_context: true of any short run, and there no reason to change the program
    is_counted: its title says what was found, and how often stands behind it
    counts_times: one that was met several times counts as several
    is_caused_by_call: its `via` is the call that brought it about
    is_cured_by_option: an option of `dynamo run` cures it, also in a library's file: its time ranks it
    changes_function: it changes how a whole function is compiled, so that it explains other graphs
    shown_by: the command that shows whether it is gone
    needs: the count of `Summary` without which nothing is known of such findings
    is_found_by_verify: most are found with `--verify` alone, so that a run without it may have them as well
    counted_in: the counts of a lock file that include it
    diff_words: what `dynamo diff` calls one and several, of which fewer are better
    diff_count: the count that says how many there are, where the findings themselves do not
    """

    of_the_compiler: bool = False
    rank: Literal["wrong", "keeps out", "untimed", "timed"] = "timed"
    of_the_run: bool = False
    is_context: bool = False
    is_counted: bool = False
    counts_times: bool = False
    is_caused_by_call: bool = False
    is_cured_by_option: bool = False
    changes_function: bool = False
    shown_by: str = "dynamo profile"
    needs: str | None = None
    is_found_by_verify: bool = False
    counted_in: tuple[str, ...] = ()
    diff_words: Words | None = None
    diff_count: str | None = None


SPECS: dict[Kind, KindSpec] = {
    "wrong result": KindSpec(
        of_the_compiler=True,
        rank="wrong",
        shown_by="dynamo run --verify=error",
        needs="graphs",
        is_found_by_verify=True,
        diff_words=("wrong result", "wrong results"),
    ),
    "compiler error": KindSpec(
        of_the_compiler=True,
        rank="wrong",
        is_counted=True,
        changes_function=True,
        counts_times=True,
        shown_by="dynamo explain",
        needs="frames_fell_back",
        diff_words=("error in the compiler", "errors in the compiler"),
        diff_count="errors in the compiler",
    ),
    "error with compiled code": KindSpec(rank="wrong", shown_by="dynamo run --verify=error", needs="graphs"),
    "hook not called": KindSpec(
        of_the_compiler=True,
        rank="wrong",
        shown_by="dynamo explain",
        needs="graphs",
        diff_words=("line of hooks that are left out", "lines of hooks that are left out"),
    ),
    "ranks differ": KindSpec(
        of_the_compiler=True,
        rank="wrong",
        shown_by="dynamo ranks",
        needs="graphs",
        diff_words=("difference between ranks", "differences between ranks"),
    ),
    "fell back to eager": KindSpec(
        of_the_compiler=True,
        rank="keeps out",
        is_counted=True,
        changes_function=True,
        counts_times=True,
        shown_by="dynamo breaks",
        needs="frames_fell_back",
        counted_in=("graph-breaks", "frames-run-eager"),
        diff_words=("frame that runs eager", "frames that run eager"),
        diff_count="frames that ran eager",
    ),
    "recompile limit": KindSpec(
        of_the_compiler=True,
        rank="keeps out",
        is_caused_by_call=True,
        changes_function=True,
        shown_by="dynamo recompiles",
        needs="recompiles",
        counted_in=("graphs", "recompiles"),
        diff_words=("recompile limit that was hit", "recompile limits that were hit"),
    ),
    "left eager by dynamo run": KindSpec(
        rank="keeps out", is_counted=True, is_cured_by_option=True, shown_by="dynamo explain"
    ),
    "graph break": KindSpec(
        of_the_compiler=True,
        rank="untimed",
        is_counted=True,
        changes_function=True,
        counts_times=True,
        shown_by="dynamo breaks",
        needs="distinct_graph_breaks",
        counted_in=("graphs", "graph-breaks"),
        diff_words=("graph break", "graph breaks"),
        diff_count="graph breaks",
    ),
    "never called": KindSpec(
        of_the_compiler=True,
        rank="untimed",
        shown_by="dynamo explain",
        needs="frames_fell_back",
        diff_words=("compiled function that is not called", "compiled functions that are not called"),
    ),
    "other random numbers": KindSpec(
        of_the_compiler=True,
        rank="untimed",
        shown_by="dynamo explain",
        needs="graphs",
        diff_words=("line of other random numbers", "lines of other random numbers"),
    ),
    "recompile": KindSpec(
        of_the_compiler=True,
        rank="untimed",
        is_caused_by_call=True,
        changes_function=True,
        counts_times=True,
        shown_by="dynamo recompiles",
        needs="recompiles",
        counted_in=("graphs", "recompiles"),
        diff_words=("recompile", "recompiles"),
        diff_count="recompiles",
    ),
    "compiled anew": KindSpec(
        of_the_compiler=True,
        is_caused_by_call=True,
        changes_function=True,
        shown_by="dynamo recompiles",
        needs="recompiles",
        counted_in=("graphs", "recompiles"),
        diff_words=("function compiled again", "functions compiled again"),
    ),
    "backend declined": KindSpec(
        of_the_compiler=True,
        rank="wrong",
        shown_by="dynamo explain",
        needs="graphs",
        diff_words=("graph that no backend took", "graphs that no backend took"),
    ),
    "CUDA graphs skipped": KindSpec(shown_by="dynamo explain"),
    "many CUDA graphs": KindSpec(shown_by="dynamo explain"),
    "overhead-bound graphs": KindSpec(),
    "costly guards": KindSpec(shown_by="dynamo guards"),
    "never pays back": KindSpec(of_the_run=True, is_context=True),
    "unrolled loop": KindSpec(),
    "unstable key": KindSpec(shown_by="dynamo cache"),
    "cold start": KindSpec(of_the_run=True, is_context=True, shown_by="dynamo cache"),
    "caches off": KindSpec(of_the_run=True, is_context=True, shown_by="dynamo cache"),
    "cache bypass": KindSpec(of_the_run=True, shown_by="dynamo cache"),
    "eager optimizer": KindSpec(is_context=True),
    "time outside of graphs": KindSpec(),
    "slow loader": KindSpec(),
}
KINDS: tuple[Kind, ...] = get_args(Kind)
OF_THE_COMPILER: tuple[Kind, ...] = tuple(kind for kind, spec in SPECS.items() if spec.of_the_compiler)


def spec_of(kind: str) -> KindSpec:
    """The row of a kind; for one in a lock file of another version, a row that says nothing."""
    return SPECS.get(cast(Kind, kind), KindSpec())


def unseen_kinds(recording: Recording) -> frozenset[str]:
    """The kinds of findings of which the recording cannot say that there were none."""
    count_of = partial(getattr, summarize(recording))
    return frozenset(kind for kind in SPECS if not could_be_seen(kind, count_of))


def could_be_seen(kind: str, count_of: Callable[[str], int | None]) -> bool:
    """Whether a run without a finding of this kind had none; `count_of` gives a count of `Summary`."""
    count = spec_of(kind).needs
    return count is None or count_of(count) is not None

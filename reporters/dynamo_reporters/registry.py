"""Every report, declared once: its JSON document, and what `dynamo --help` says of its command.

The schemas, the commands, and the tests that run every report in every form go by this list. It is read where
`dynamo` starts, so it imports nothing.
"""

from typing import NamedTuple


class Declaration(NamedTuple):
    """A report and its JSON document, `dynamo-<name>`.

    `document` names the dataclass that the document is made of, `module:class` in this package, and
    `with_option` one that has the fields that only an option adds. `version` is raised when a field goes or
    changes its meaning. `summary` is its line in `dynamo --help`; a document that another command gives has
    none, and names that command in `command`. Reports `of_recordings` are given a `Case`, whose path and
    problems their documents begin with; the others are of what their command found out. One that only reads
    is made by `report_command`, with every selector and format.
    """

    document: str
    summary: str = ""
    of_recordings: bool = False
    only_reads: bool = True
    command: str = ""
    with_option: str | None = None
    version: int = 1


REPORTS = {
    "explain": Declaration(
        "explain.document:Explained", "Say what happened, what it cost and what to fix first.", True
    ),
    "breaks": Declaration(
        "breaks:Breaks", "Show each graph break, what it costs and what to do about it.", True
    ),
    "recompiles": Declaration(
        "recompiles:Recompiles", "Show which guard failed, on which values, and what to do.", True
    ),
    "graphs": Declaration(
        "graphs.document:Graphs",
        "Show the FX graphs: as tables, code or drawings, at every stage.",
        True,
        with_option="graphs.document:GraphsAndProgram",
    ),
    "guards": Declaration("guards.document:Guards", "Show the guards of each cache entry.", True),
    "bytecode": Declaration(
        "bytecode.document:Bytecodes", "Show each frame's bytecode before and after Dynamo.", True
    ),
    "ops": Declaration("ops:OpsBody", "Count the operations of each graph, and how often they ran.", True),
    "profile": Declaration(
        "profile.document:Profile", "Show where the time goes, and export it to viewers.", True
    ),
    "ranks": Declaration(
        "ranks:Ranks",
        "Compare the ranks of a distributed run: who differs, who waits for whom.",
        True,
    ),
    "cache": Declaration(
        "cache:CacheDocument", "Say what torch's caches were worth, and why a warm start was cold."
    ),
    "cache-store": Declaration("cache:StoreDocument", command="cache --store"),
    "diff": Declaration("diff:DiffDocument", "Compare two recordings: what was added, removed, changed."),
    "diff-locked": Declaration("diff:LockedDocument", command="diff LOCK LOCK"),
    "check": Declaration(
        "check:CheckDocument", "Run a program, and fail where it got worse than its lock file says."
    ),
    "fix": Declaration(
        "fix:FixDocument", "Try the remedies on the program, and show those that are proven to cure."
    ),
    "repro": Declaration(
        "repro:ReproDocument", "Make a small file that fails alone of a program that compiles wrongly."
    ),
    "export": Declaration(
        "export:ExportDocument", "Say which modules torch.export takes, and what is in the way."
    ),
    "bench": Declaration(
        "bench_document:BenchDocument",
        "Run a program under several backends, and compare time, speed-up and agreement.",
    ),
    "suite": Declaration("suite:SuiteDocument", command="bench --suite"),
    "autotune": Declaration(
        "autotune_document:Autotuned",
        "Find the best backend for each graph, and keep it.",
        True,
        only_reads=False,
    ),
    "backends": Declaration(
        "backends:BackendsDocument", "List the backends, where they come from and whether they can run here."
    ),
    "backend": Declaration("backends:BackendDocument", command="backends NAME"),
    "error": Declaration("error:ErrorDocument", command="COMMAND"),
}
OF_RECORDINGS = tuple(name for name, report in REPORTS.items() if report.of_recordings and report.only_reads)

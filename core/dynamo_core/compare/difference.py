"""What differs between two runs of a program, as plain data."""

from typing import Literal

from ..findings import Finding
from ..model import Place
from ..shared.quick_dataclass import dataclass

Verdict = Literal["nothing differs", "better", "worse", "different", "not comparable"]
GraphChangeKind = Literal["came", "went", "changed", "split", "joined"]
TimeVerdict = Literal["longer", "shorter", "within the spread", "not comparable"]


@dataclass(frozen=True)
class GraphSide:
    """A graph of one of the two runs; `process` is the stream that it is recorded in."""

    number: int
    process: str
    compile_id: str | None
    function: str | None
    place: Place | None
    ops: int | None


@dataclass(frozen=True)
class OpChange:
    """Ops of one kind at one line that only one of two graphs has: `count` is below 0 for those that went.

    `op` is "input" for an input of the graph. `text` is the line's, empty where it was not recorded.
    """

    op: str
    count: int
    place: Place | None
    text: str


@dataclass(frozen=True)
class TensorChange:
    """What changed of so many values that both graphs have; `name` and the places are the first one's."""

    what: Literal["dtype", "shape", "device", "requires_grad"]
    before: str
    after: str
    values: int
    name: str
    before_place: Place | None
    after_place: Place | None
    text: str


@dataclass(frozen=True)
class ArgumentChange:
    """The first op of a graph that does the same to other constants, or to other values."""

    op: str
    before: str
    after: str
    before_place: Place | None
    after_place: Place | None
    text: str


@dataclass(frozen=True)
class KernelChange:
    """How many calls of kernels that Inductor generated a graph takes, with its backward.

    `gone` and `come` are the kernels of one side alone, by the name without its number, once for each call.
    """

    before: int
    after: int
    gone: tuple[str, ...]
    come: tuple[str, ...]


@dataclass(frozen=True)
class SavedChange:
    """Bytes that a forward saves for its backward, and the nodes whose results only one side saves.

    Nodes of AOTAutograd's graph have no number; all inputs of it are "input". Sizes that are dynamic count
    with the values that the graph was compiled with.
    """

    before: int
    after: int
    tensors: tuple[OpChange, ...]


@dataclass(frozen=True)
class GuardChange:
    """Guards that so many cache entries of one side have; below 0 for those that went.

    Of functions that both runs compiled as often. `demands` says in words what is checked of the `source`;
    where torch is another one it is not compared, since torch words it otherwise.
    """

    function: str
    type: str
    source: str
    demands: str
    count: int
    place: Place | None
    text: str
    is_of_torch: bool = False


@dataclass(frozen=True)
class GraphChange:
    """Graphs that came, went or changed; so many `times` alike, of which the first is described.

    A graph that is "split" has several in its place, which "joined" have one. `argument` is looked for where
    nothing else differs. `settings` are what it was compiled under, or with: modes of torch, the backend that
    took it. `because` is the identity of the finding that came, or went, and explains it, if there is one.
    `is_of_torch` says that torch is another one, and the function's own lines are the same.
    """

    kind: GraphChangeKind
    function: str
    times: int
    before: tuple[GraphSide, ...]
    after: tuple[GraphSide, ...]
    ops: tuple[OpChange, ...] = ()
    tensors: tuple[TensorChange, ...] = ()
    argument: ArgumentChange | None = None
    settings: tuple[str, ...] = ()
    kernels: KernelChange | None = None
    saved: SavedChange | None = None
    because: str | None = None
    is_of_torch: bool = False


@dataclass(frozen=True)
class FindingChange:
    """A finding that both runs have, whose count changed."""

    before: Finding
    after: Finding


@dataclass(frozen=True)
class CountChange:
    """A count of the whole run, or of one function, which differs."""

    name: str
    function: str | None
    before: int
    after: int


@dataclass(frozen=True)
class Time:
    """Seconds on both sides, with the range of repeats in each run; None where that was not recorded."""

    name: str
    before: float | None
    after: float | None
    before_range: tuple[float, ...] | None
    after_range: tuple[float, ...] | None
    verdict: TimeVerdict
    why: str


@dataclass(frozen=True)
class Condition:
    """What a run ran under, and is not of the program: a version, a setting, a device, a cache."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """What was looked at on both sides."""

    graphs: int
    findings: int


@dataclass(frozen=True)
class Difference:
    """All that differs. `sentence` is the verdict in words. Where torch is another one, `of_torch` has the
    identities of findings that came or went in functions whose lines are the same.

    Times, conditions and what was `not_compared` are reported, and do not count as differences.
    """

    verdict: Verdict
    sentence: str
    compared: Compared
    came: tuple[Finding, ...]
    went: tuple[Finding, ...]
    changed: tuple[FindingChange, ...]
    graphs: tuple[GraphChange, ...]
    counts: tuple[CountChange, ...]
    guards: tuple[GuardChange, ...]
    times: tuple[Time, ...]
    conditions: tuple[Condition, ...]
    not_compared: tuple[str, ...]
    of_torch: tuple[str, ...] = ()

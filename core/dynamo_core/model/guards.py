"""The guards of cache entries, and which of them failed."""

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place


@dataclass(frozen=True)
class GuardFailure:
    """Why a cache entry could not be used: the check that failed, in torch's words and in parts.

    `kind` says what differed: size, stride, rank, dtype, requires_grad, dispatch keys, device, length, type,
    identity, freed object, global state, attribute, dictionary, relation of sizes, value, comparison (of a
    number with a bound), other. `index` is the dimension, `remark` what torch says of the check besides.
    """

    entry: CompileId | None
    check: str
    kind: str
    source: str | None
    index: int | None
    expected: str | None
    actual: str | None
    user_code: str | None
    place: Place | None
    hint: str | None
    remark: str | None = None


@dataclass(frozen=True)
class RecompileReasons:
    """Why each cache entry that a frame had could not be used, before it was compiled as `compile_id`."""

    compile_id: CompileId | None
    failures: tuple[GuardFailure, ...]


@dataclass(frozen=True)
class Guard:
    """A condition under which a cache entry may be used."""

    type: str
    source: str
    scope: str | None
    code: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True)
class GuardCheck:
    """A leaf of torch's guard tree: one check that is evaluated before the cache entry runs.

    `code` is torch's text of it. `user_code` is the line that caused it, `place` where that is; torch may cut
    the file's name short at the front.
    """

    type: str
    source: str
    code: str
    user_code: str | None
    place: Place | None
    function: str | None


@dataclass
class GuardSet:
    """The guards of one cache entry, as Dynamo asked for them (`guards`) and as they are checked (`checks`).

    Either is None where it was not recorded or not asked for. `latency_us` is torch's own measurement of one
    evaluation, in microseconds.
    """

    compile_id: CompileId | None
    guards: tuple[Guard, ...] | None = None
    checks: tuple[GuardCheck, ...] | None = None
    latency_us: float | None = None

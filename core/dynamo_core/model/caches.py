"""What torch's compile caches said to each compile."""

from dataclasses import dataclass

from .ids import CompileId


@dataclass(frozen=True)
class CacheLookup:
    """One look-up of a compile in a cache of torch's: hit, miss or bypass.

    `detail` is torch's finer word for the outcome (`full_miss`, `guard_miss`), `reason` why the cache was
    bypassed. `saved_seconds` is what the entry once took to make, of a hit; `took_seconds` what making it
    took now, of a miss. `parts` are the lines in which torch lists what the key is made of,
    `[hash] name: text`; None where they were not recorded or not asked for.
    """

    cache: str
    outcome: str
    compile_id: CompileId | None
    key: str | None = None
    detail: str | None = None
    reason: str | None = None
    saved_seconds: float | None = None
    took_seconds: float | None = None
    parts: tuple[str, ...] | None = None

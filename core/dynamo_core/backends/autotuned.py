"""The backend `autotuned`: each graph goes to the backend that `dynamo autotune` found to be its best."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..shared.backend_choice import parse_choice
from ..shared.settings import Settings
from ..tuned.winners import Tuned, find, read, why_unknown
from .compilers import Compiler, compiler_of
from .conditions_here import conditions_here
from .declined import Declined
from .graph_in_progress import graph_in_progress
from .taken import Taken


class Autotuned:
    """Compiles with the winner of the autotune file; declines graphs that it does not know."""

    def __init__(self, settings: Settings) -> None:
        assert settings.autotune_file is not None, "the launcher has checked that there is one"
        self._file = Path(settings.autotune_file)
        self._dynamic = settings.dynamic
        self._compilers: dict[str, Compiler] = {}

    def __call__(self, gm: Any, example_inputs: Sequence[Any]) -> Any:
        """Compile a graph while it is being recorded, which is when its key is known."""
        winner = self._winner(example_inputs)
        if winner not in self._compilers:
            self._compilers[winner] = compiler_of(parse_choice(winner), dynamic=self._dynamic)
        compiled = self._compilers[winner](gm, example_inputs)
        return Taken(compiled, winner) if callable(compiled) else compiled

    @cached_property
    def _entries(self) -> list[Tuned]:
        return read(self._file)

    def _winner(self, inputs: Sequence[Any]) -> str:
        key, conditions = graph_in_progress.key, conditions_here(inputs)
        if key is None:
            raise Declined("the graph could not be recorded, so it has no key")
        entry = find(self._entries, key, conditions)
        if entry is None or entry.winner is None:
            raise Declined(f"{self._file} {why_unknown(self._entries, key, conditions)}")
        return entry.winner

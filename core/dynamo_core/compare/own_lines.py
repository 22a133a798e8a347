"""What another version of torch did: what differs in functions whose own lines are the same in both runs."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from ..analysis.findings import Finding
from ..model import Recording, function_of
from .graph_pairs import Pair

_Function = tuple[str, str]  # its name, and that of its file


class OwnLines:
    """The lines of compiled functions on both sides, without those of what is inlined into them.

    Functions of one name in one file are taken for one: where one of them was changed, none is the same.
    """

    def __init__(self, before: Recording, after: Recording) -> None:
        self.is_another_torch = _versions(before) != _versions(after)
        self._before, self._after = _lines(before), _lines(after)
        self._functions = _of_compiles(before) | _of_compiles(after)

    def are_the_same(self, pair: Pair) -> bool:
        """Whether torch is another one, and the functions that these graphs are of read the same."""
        compiles = [(each.process.stream.name, str(each.graph.compile_id)) for side in pair for each in side]
        return self._read_the_same(map(self._functions.get, compiles))

    def findings_of_torch(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """The identities of those in functions that read the same, where torch is another one."""
        return tuple(
            finding.identity
            for finding in findings
            if finding.place is not None
            and self._read_the_same([_function(finding.function, finding.place.file)])
        )

    def function_is_the_same(self, name: str) -> bool:
        """Whether torch is another one, and every function of this name reads the same."""
        functions = [function for function in self._before | self._after if function and function[0] == name]
        return bool(functions) and self._read_the_same(functions)

    def _read_the_same(self, functions: Iterable[_Function | None]) -> bool:
        return self.is_another_torch and all(
            function in self._before and self._before[function] == self._after.get(function)
            for function in functions
        )


def _versions(recording: Recording) -> set[str | None]:
    return {process.torch_version for process in recording.processes}


def _function(name: str | None, file: str) -> _Function:
    return function_of(name), PurePath(file).name


def _lines(recording: Recording) -> dict[_Function | None, set[str]]:
    found: dict[_Function | None, set[str]] = {}
    for process in recording.processes:
        for code in process.bytecodes:
            lines = found.setdefault(_function(code.name, code.place.file), set())
            lines |= {line.strip() for line in code.source.values()}
    return found


def _of_compiles(recording: Recording) -> dict[tuple[str, str], _Function]:
    return {
        (process.stream.name, str(code.compile_id)): _function(code.name, code.place.file)
        for process in recording.processes
        for code in process.bytecodes
    }

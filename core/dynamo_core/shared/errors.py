"""The errors that are shown to the user, each with an exit code, and suggestions for mistyped names.

A bad command line ends with 2, as everywhere; a fault of this tool with 125; a report that nobody reads on
with 141. Otherwise `dynamo run` ends as the program ended.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

EXIT_USAGE = 2
EXIT_INTERNAL = 125
EXIT_INTERRUPTED = 130  # after Ctrl-C; what a shell says of SIGINT
EXIT_NOBODY_READS = 141  # as with `dynamo explain | head`; what a shell says of SIGPIPE
EXIT_TERMINATED = 143  # after SIGTERM; what a shell says of it


class DynamoError(Exception):
    """An error that the user can fix; its text says what, where and how, in one line."""

    exit_code = EXIT_INTERNAL


class NotReproduced(DynamoError):
    """The program does not fail as it was to, or no part of it fails alone."""

    exit_code = 105


class ClusterProblem(DynamoError):
    """There is no Ray cluster, or it cannot run what it was asked to."""

    exit_code = 106


class SuiteProblem(DynamoError):
    """The file of a suite is damaged or names what is not known, or results are no results of a suite."""

    exit_code = 107


class NothingExported(DynamoError):
    """An exported program was asked for, and none was made."""

    exit_code = 108


class LockFileProblem(DynamoError):
    """The lock file, or what pyproject.toml says of it, is damaged or cannot be written."""

    exit_code = 109


class NothingToCompare(DynamoError):
    """Nothing is locked for the program and no bound is given, or nothing was recorded."""

    exit_code = 110


class NotAsLocked(DynamoError):
    """The program is better than what is locked, and --exact asks to say so."""

    exit_code = 111


class GotWorse(DynamoError):
    """The program is worse than what is locked or than an earlier run, or beyond a bound."""

    exit_code = 112


class CannotApply(DynamoError):
    """A fix cannot be made in the user's files; nothing was written."""

    exit_code = 113


class CannotRunAgain(DynamoError):
    """The program of a recording cannot be run again."""

    exit_code = 114


class NotMeasured(DynamoError):
    """No run, or no graph, could be measured."""

    exit_code = 115


class AutotuneFileProblem(DynamoError):
    """The autotune file is missing, damaged or of another kind."""

    exit_code = 116


class Disagreement(DynamoError):
    """Compiled code computes something else than eager, and `bench` or --verify=error says so."""

    exit_code = 117


class GraphBreaksFound(DynamoError):
    """There were graph breaks, and --fullgraph asks for none."""

    exit_code = 118


class CannotRecord(DynamoError):
    """The recording cannot be created or written."""

    exit_code = 120


class NotARecording(DynamoError):
    """The path is no recording and no torch trace."""

    exit_code = 121


class DamagedRecording(DynamoError):
    """Nothing in the recording can be read."""

    exit_code = 122


class NoRecording(DynamoError):
    """There is no such path, or no recording yet."""

    exit_code = 123


class NothingSelected(DynamoError):
    """Nothing in the recording fits the selectors given."""

    exit_code = 119


class BackendProblem(DynamoError):
    """The backend is unknown or cannot be found."""

    exit_code = 124


class ProgramNotExecutable(DynamoError):
    """The program is there but cannot be started."""

    exit_code = 126


class ProgramNotFound(DynamoError):
    """The program, or its Python, is not there."""

    exit_code = 127


@contextmanager
def os_errors_as(kind: type[DynamoError], what: str) -> Iterator[None]:
    """Raise an error of this kind in place of an OSError: `cannot write FILE: No space left on device`."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error


# Of 0 to 1, by `difflib`, whose 0.6 takes 'export' for what was meant by 'next'.
_LEAST_SIMILAR = 0.65


def did_you_mean(word: str, known: Iterable[str], most: int = 1) -> str | None:
    """A suggestion for a mistyped name, `did you mean 'guards'?`; None where no known name is similar.

    With more than one at `most`: `did you mean 'cache' or 'cache-store'?`.
    """
    import difflib  # takes 5 ms, and is needed only after a typo

    near = difflib.get_close_matches(word, list(known), n=most, cutoff=_LEAST_SIMILAR)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else None

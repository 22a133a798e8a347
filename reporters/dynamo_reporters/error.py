"""The document of a command that fails."""

from typing import Annotated

from dynamo_core.shared.quick_dataclass import dataclass

from .report import Report


@dataclass(frozen=True)
class ErrorDocument:
    """Why a command gave no report: what it prints on stderr, in parts."""

    code: Annotated[int, "the exit code"]
    what: Annotated[str, "what is wrong, with the path or the value that is"]
    where: Annotated[str, "the command, and the option or argument where one is wrong"]
    what_to_do: Annotated[str | None, "null where the message says nothing of it"]


def error_document(message: str, code: int, where: str) -> ErrorDocument:
    """A message of the command line in parts: what to do stands behind its first semicolon."""
    what, _, what_to_do = message.partition("; ")
    return ErrorDocument(code, what, where, what_to_do or None)


# It has a document only, as the line on stderr is what people read.
REPORT: Report[ErrorDocument] = Report("error", page=lambda error: (), body=lambda error: error)

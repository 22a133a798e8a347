"""What to do, as a sentence for a person and, where it can be typed for them, as a change for a program."""

from ...shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Assignment:
    """`name` gets `value`; of a setting of torch's, as a Python literal."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


@dataclass(frozen=True)
class Change:
    """What `dynamo fix` does to try a remedy; one of the fields is filled.

    `environment` are variables of the process; `settings` torch's own, by their whole name
    (`torch._dynamo.config.…`), as `dynamo run --config` sets them; `arguments` those of the program's own
    calls of torch.compile, as `dynamo run --override` replaces them; `options` are others of `dynamo run`;
    `edit` names an edit of the source (`dynamo_core/fix/edits`), which is made at the finding's place;
    `operand` is what some of them are about: the name of an argument, or the statement that is put in.
    """

    environment: tuple[Assignment, ...] = ()
    settings: tuple[Assignment, ...] = ()
    arguments: tuple[Assignment, ...] = ()
    options: tuple[str, ...] = ()
    edit: str | None = None
    operand: str | None = None


@dataclass(frozen=True)
class Advice:
    """`may_change` says what else it may do to the program; empty where nothing is known."""

    text: str
    change: Change | None = None
    may_change: str = ""


def environment(text: str, may_change: str = "", **variables: str) -> Advice:
    """Advice to set environment variables."""
    change = Change(environment=tuple(Assignment(name, value) for name, value in variables.items()))
    return Advice(text, change, may_change)


def setting(text: str, name: str, value: str, may_change: str = "") -> Advice:
    """Advice to give a setting of torch's another value."""
    return Advice(text, Change(settings=(Assignment(name, value),)), may_change)


def edit(text: str, name: str, may_change: str = "") -> Advice:
    """Advice to change the line, for which there is an edit."""
    return Advice(text, Change(edit=name), may_change)

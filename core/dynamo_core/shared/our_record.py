"""The base class of our records: typed fields, which a probe writes and the reader gets back.

Both sides of the process boundary import this module, so it needs the standard library only. A field that
is renamed on one side alone is a type error. Where a field changes its meaning, is removed, or is added
without a default, `VERSION` is raised, and the reader has to handle older versions; a record without a
version is of the first. Times are in nanoseconds: a field like `began_ns` is a moment since the epoch, a
field like `backend_ns` a duration.

Type checkers treat the classes as dataclasses, but they are none: to make 30 dataclasses takes 6 ms in every
program that is run.
"""

from json import dumps
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """A stand-in at run time; `typing` has it only from Python 3.11 on."""
        return lambda kind: kind


@dataclass_transform(eq_default=False, kw_only_default=True)
class OurRecord:
    """A kind of record that we write: its name in the stream, and the version of its fields.

    The fields in `LISTS`, which may be long, are written after the first line, a line for each item: so the
    other fields can be read from the first line alone.
    """

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1
    LISTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and all(
            getattr(other, name) == getattr(self, name) for name in self.field_names()
        )

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(cls.__annotations__)

    def payload(self) -> dict[str, Any]:
        """The fields to write; a field that was not set is left out."""
        return {**vars(self), "version": self.VERSION}

    def as_json(self) -> str:
        """The payload as it is written to the stream."""
        fields = self.payload()
        lists = [(name, fields.pop(name)) for name in self.LISTS if name in fields]
        text = dumps(fields, default=repr)
        for name, values in lists:
            rows = ",\n".join(dumps(value, default=repr) for value in values)
            text = f'{text[:-1]},\n"{name}": [\n{rows}\n]}}'
        return text

"""What a record of ours is: typed once, a probe writes one, and the reader gets the same back.

Both sides of the process boundary import this module, so it needs the standard library only. A field that
is renamed on one side alone is a type error. Where a field changes its meaning, goes, or joins without a
default, `VERSION` rises, and the reader is told how older ones are read; a record without a version is of
the first. Times are in nanoseconds: `…_ns` since the epoch where it is a moment, and without a name for a
moment the time that something took.

The class of a record is checked as a dataclass is, by type checkers alone: to make 30 dataclasses takes 6 ms,
which every program that is run would pay.
"""

from json import dumps
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Typing has it from Python 3.11 on; nothing asks for it when a program runs."""
        return lambda kind: kind


@dataclass_transform(eq_default=False, kw_only_default=True)
class OurRecord:
    """A kind of record that we write: its name in the stream, and the version of its fields.

    The `LISTS` among its fields, which may be long, stand on the lines after the first, a row each: who reads
    the first line alone knows the rest.
    """

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1
    LISTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def payload(self) -> dict[str, Any]:
        """What is written; a field that has its default is left out."""
        return {**vars(self), "version": self.VERSION}

    def as_json(self) -> str:
        """The payload as it stands in the stream."""
        fields = self.payload()
        lists = [(name, fields.pop(name)) for name in self.LISTS if name in fields]
        text = dumps(fields, default=repr)
        for name, values in lists:
            rows = ",\n".join(dumps(value, default=repr) for value in values)
            text = f'{text[:-1]},\n"{name}": [\n{rows}\n]}}'
        return text

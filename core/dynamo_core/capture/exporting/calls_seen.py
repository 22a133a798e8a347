"""What the calls of one module were given: the program notes it, and the copy of its process reads it."""

import inspect
import mmap
from collections.abc import Mapping
from typing import Any

from ...shared.records import ModuleToExport
from ..frames.frame_lines import line_of
from ..frames.program_files import is_own
from .agreement import Call
from .dynamic_shapes import Varied, as_code, dynamic_shapes, varied_dimensions
from .inputs import Inputs, bound, inputs_of, unregistered_dataclasses, written_arguments

_MOST_DIFFERENT = 50  # sizes of one tensor, and values of one constant
_COUNTER = 8  # bytes
_SPECIAL_BELOW = 2  # torch takes sizes of 0 and 1 as they are: it does not make them dynamic


class CallsSeen:
    """Sizes and values by the name of their input, each once.

    The counts are in memory that the program shares with its copy, so that they are known however it ends.
    """

    def __init__(self, first: Inputs, called_at: Mapping[str, Any] | None) -> None:
        self.first = first
        self._called_at = called_at
        self._sizes = {name: [tuple(sizes)] for name, sizes in first.sizes.items()}
        self._constants = {name: [value] for name, value in first.constants.items()}
        self._counts = memoryview(mmap.mmap(-1, 2 * _COUNTER)).cast("q")

    @property
    def varied(self) -> Varied:
        """What was not the same in all calls, and can be dynamic."""
        return varied_dimensions(self._sizes, self._constants)

    def count(self, inputs: Inputs) -> bool:
        """Count a call; whether it is of the first one's form."""
        is_of_form = inputs.form == self.first.form
        self._counts[0 if is_of_form else 1] += 1
        return is_of_form

    def note(self, inputs: Inputs) -> bool:
        """Take what a call was given; whether there is anything new in it."""
        news = [self._add(self._sizes, name, tuple(sizes)) for name, sizes in inputs.sizes.items()] + [
            self._add(self._constants, name, value) for name, value in inputs.constants.items()
        ]
        return any(news)

    def special_sizes(self, inputs: Inputs) -> int:
        """How many of the sizes that must be dynamic are 0 or 1 here: an export with them would fix those."""
        return sum(
            inputs.sizes[name][dimension] < _SPECIAL_BELOW
            for name, dimensions in self.varied.items()
            for dimension in dimensions
        )

    def record(self, module: Any, call: Call) -> ModuleToExport:
        """The record of a module and of the call that was seen."""
        arguments = bound(module, *call)
        forward = inspect.unwrap(type(module).forward)
        code = getattr(forward, "__code__", None)
        return ModuleToExport(
            name=str(module._get_name()),
            file=None if code is None else code.co_filename,
            line=None if code is None else code.co_firstlineno,
            called_at=None if self._called_at is None else dict(self._called_at),
            training=module.training,
            parameters=sum(parameter.numel() for parameter in module.parameters()),
            calls=self._counts[0],
            other_forms=self._counts[1],
            inputs=[
                {"name": name, "dtype": self.first.dtypes[name], "sizes": sizes}
                for name, sizes in self._sizes.items()
            ],
            constants=[{"name": name, "values": values} for name, values in self._constants.items()],
            dynamic_shapes=as_code(dynamic_shapes(arguments, self.varied)) if self.varied else None,
            arguments=written_arguments(module, *call),
            dataclasses=[kind.__qualname__ for kind in unregistered_dataclasses([*call])],
        )

    def _add(self, known: dict[str, list[Any]], name: str, value: Any) -> bool:
        values = known.setdefault(name, [])
        if value in values or len(values) >= _MOST_DIFFERENT:
            return False
        values.append(value)
        return True


def place_of_call(frame: Any) -> dict[str, Any] | None:
    """The line of the user's that led to this frame, as a frame of a stack is recorded."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else line_of(frame)


def calls_seen(module: Any, call: Call, frame: Any) -> CallsSeen:
    """Begin with the first call of a module."""
    return CallsSeen(inputs_of(bound(module, *call)), place_of_call(frame))

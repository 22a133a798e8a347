"""torch.export in a trace of torch's own, detailed as with TORCH_DTRACE: each call, and what it ran into.

`export` is the first record of a call, `exported_program` the last, with the program; what an export runs
into stands between them. `draft_export` always writes a stream of its own, without the first record.
Source: torch/export/_trace.py (_export), torch/_subclasses/fake_tensor.py (missing_fake_kernel,
mismatched_fake_kernel), torch/fx/experimental/symbolic_shapes.py (propagate_real_tensors_provenance,
guard_on_data_dependent_error), torch/export/_draft_export.py (CaptureStructuredTrace). Run with 2.13.
"""

from collections.abc import Mapping
from typing import Any

from ..model import DraftedObstacle, Process, TracedExport
from .begun import BegunCompiles
from .payloads import Handler
from .records import Record

_BEGINS, _ENDS = "export", "exported_program"
_EXPORTER = "/torch/export/"
_MOST_OBSTACLES = 1000  # of one export; a loop may run into the same one again and again


class TracedExportBuilder:
    """Fills what a process has of them."""

    def __init__(self, process: Process, begun: BegunCompiles) -> None:
        self._process = process
        self._begun = begun

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            _BEGINS: self._begin,
            _ENDS: self._end,
            "missing_fake_kernel": self._missing_kernel,
            "mismatched_fake_kernel": self._mismatched_kernel,
            "propagate_real_tensors_provenance": self._guessed,
            "guard_on_data_dependent_error": self._data_dependent,
        }

    def _begin(self, record: Record) -> None:
        self._process.traced_exports.append(TracedExport(record.time))

    def _end(self, record: Record) -> None:
        """draft_export writes the program of its export once more."""
        exports = self._process.traced_exports
        if not exports:
            self._begin(record)
        exports[-1].program = record.payload()

    def _missing_kernel(self, record: Record) -> None:
        content = record.metadata["missing_fake_kernel"]
        self._met("MISSING_FAKE_KERNEL", str(content["op"]), record, content)

    def _mismatched_kernel(self, record: Record) -> None:
        content = record.metadata["mismatched_fake_kernel"]
        self._met("MISMATCHED_FAKE_KERNEL", f"{content['op']}: {content['reason']}", record, content)

    def _guessed(self, record: Record) -> None:
        content = record.metadata["propagate_real_tensors_provenance"]
        text = f"{content['expr']} was taken to be {content['result']}, as it is with the inputs at hand"
        self._met("DATA_DEPENDENT_ERROR", text, record, content)

    def _data_dependent(self, record: Record) -> None:
        content = record.metadata["guard_on_data_dependent_error"]
        text = f"Could not guard on data-dependent expression {content['expr']}"
        self._met("DATA_DEPENDENT_ERROR", text, record, content)

    def _met(self, kind: str, text: str, record: Record, content: Mapping[str, Any]) -> None:
        exports = self._process.traced_exports
        if not exports or exports[-1].program is not None:
            if "frame_id" in record.metadata:
                return  # of a compile, whose graph breaks say it
            self._begin(record)
        whole = self._begun.stack(content.get("stack") or [])
        if "frame_id" in record.metadata and not any(_EXPORTER in each.place.file for each in whole):
            return  # of a compile behind an export that failed; one with strict=True has a frame as well
        met = DraftedObstacle(
            kind, text, tuple(self._begun.stack(content.get("user_stack") or [])) or tuple(whole)
        )
        obstacles = exports[-1].obstacles
        if met in obstacles:
            obstacles.remove(met)  # the last one is what ended the export
        if len(obstacles) < _MOST_OBSTACLES:
            obstacles.append(met)

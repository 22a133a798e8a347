"""Receive torch's structured trace, whatever the program does with `logging`.

Source: torch/_logging/_internal.py (trace_structured, LazyTraceHandler, _init_logs); the logger's name and
the record's `metadata` and `payload` are the same in torch 2.8 to 2.15. Run with 2.13.
"""

import hashlib
import json
import logging
import os
import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from ...shared.early_records import CompileBegun
from ...shared.masking import masked_environment
from ..frames.source import def_line
from ..primitives import perf_counter_ns, time_ns
from ..writing.stream import Stream

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_TRACE_LOGGER = "torch.__trace"
_METRICS = ("compilation_metrics", "bwd_compilation_metrics")
# Records that no reader uses in the recording of a test: torch's timed spans, the inputs, and the text of
# graphs, which our own record describes. The begin of a compile is not recorded either: a test is read when
# it has ended.
_UNUSED_IN_TESTS = frozenset(
    {"chromium_event", "describe_storage", "describe_tensor", "describe_source", "dynamo_output_graph"}
)
_BYTECODE = "_BYTECODE"  # as torch prints it; our own record has it as instructions
_UNUSED_METRICS = frozenset({"inductor_config", "functorch_config", "compiler_config", "stack_trace"})
_PYTEST_FILE = re.compile(r"[/\\](?:_pytest|pytest|pluggy)[/\\]")
# torch's program for a graph sets the environment variables whose names contain one of these.
_SET_IN_PROGRAM = ("TORCH", "DYNAMO", "INDUCTOR", "TRITON")


class TraceHandler(logging.Handler):
    """Writes every record of the structured trace to the stream, and remembers the last compile in it."""

    def __init__(self, stream: Stream, *, brief: bool) -> None:
        super().__init__(logging.DEBUG)
        self._stream = stream
        self._brief = brief
        self._pytest_files: set[int] = set()  # by the numbers that torch gives to files
        self._files: dict[int, str] = {}
        self.last_compile: Mapping[str, int] | None = None
        self.last_compile_ended_ns: int | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write `record`. Never raises: torch is in the middle of compiling the user's program."""
        try:
            metadata: Mapping[str, Any] = record.metadata  # type: ignore[attr-defined]
            if "dynamo_start" in metadata or "compilation_metrics" in metadata:
                self.last_compile = envelope(metadata)
            if any(kind in metadata for kind in _METRICS):
                self.last_compile_ended_ns = perf_counter_ns()
            path = record.pathname[max(record.pathname.rfind("/torch/"), 0) :].lstrip("/")
            payload: str | None = record.payload  # type: ignore[attr-defined]
            artifact = metadata.get("artifact", {}).get("name") or ""
            if payload is not None and artifact == "fx_graph_runnable":
                metadata, payload = _without_secrets(metadata, payload)
            if self._brief:
                if _UNUSED_IN_TESTS.isdisjoint(metadata) and not artifact.endswith(_BYTECODE):
                    self._stream.write(self._shortened_for_test(metadata), payload, path, record.lineno)
                return
            self._stream.write(metadata, payload, path, record.lineno)
            if "str" in metadata:
                text, number = metadata["str"]
                self._files[number] = text
            is_backward = "chromium_event" in metadata and _begins_backward(payload)
            if is_backward or "dynamo_start" in metadata:
                begun = CompileBegun(
                    began_ns=time_ns(),
                    backward=is_backward,
                    test=_test_that_runs(),
                    def_line=self._def_line(metadata),
                )
                self._stream.record(begun, envelope(metadata))
        except Exception:
            self._stream.counters.note_lost_record(0)

    def _def_line(self, metadata: Mapping[str, Any]) -> int | None:
        """The `def` line of the function that Dynamo begins to compile, where decorators are above it."""
        if "dynamo_start" not in metadata:
            return None
        try:
            frame = metadata["dynamo_start"]["stack"][-1]
            file = self._files.get(frame["filename"])
            return None if file is None else def_line(frame["name"], file, frame["line"])
        except Exception:  # the record of the compile's begin matters more
            return None

    def _shortened_for_test(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """The metadata without what no reader uses of a test: pytest's frames in a stack, and settings."""
        if "str" in metadata:
            text, number = metadata["str"]
            if _PYTEST_FILE.search(text):
                self._pytest_files.add(number)
        elif "dynamo_start" in metadata:
            *callers, frame = metadata["dynamo_start"]["stack"]
            own = [caller for caller in callers if caller.get("filename") not in self._pytest_files]
            return {**metadata, "dynamo_start": {**metadata["dynamo_start"], "stack": [*own, frame]}}
        return _without_settings(metadata)

    def handleError(self, record: logging.LogRecord) -> None:
        """Print nothing on the program's stderr."""

    def close(self) -> None:
        """Stay open: `logging.config.dictConfig` closes every handler it finds."""


def _test_that_runs() -> str | None:
    """The test that pytest runs in this process; None in a process that a test has started.

    Source: _pytest/runner.py (_update_current_test_var), pytest 8 and 9: `test_model.py::test_step (call)`.
    """
    return os.environ.get("PYTEST_CURRENT_TEST") if "_pytest" in sys.modules else None


def _without_settings(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """A compile's metrics without texts that no reader uses of a test, and without fields that are None.

    Source: torch/_dynamo/utils.py (CompilationMetrics), 2.8 to 2.15.
    """
    from ...shared.settings import settings_read  # no program under `dynamo run` needs it

    for kind in _METRICS:
        if isinstance(metadata.get(kind), dict):
            kept = {
                name: value
                for name, value in metadata[kind].items()
                if value is not None and name not in _UNUSED_METRICS
            }
            if isinstance(kept.get("dynamo_config"), str):
                kept["dynamo_config"] = settings_read(kept["dynamo_config"])
            return {**metadata, kind: kept}
    return metadata


def _without_secrets(metadata: Mapping[str, Any], payload: str) -> tuple[Mapping[str, Any], str]:
    """torch's program for a graph, which sets environment variables, without those that are not recorded.

    Source: torch/_dynamo/debug_utils.py (generate_env_vars_string), 2.8 to 2.15.
    """
    recorded = masked_environment(os.environ)
    for name, value in os.environ.items():
        if not any(word in name for word in _SET_IN_PROGRAM):
            continue
        line = _line_setting(name, value)
        masked_line = _line_setting(name, recorded[name]) if name in recorded else ""
        payload = payload.replace(line, masked_line)
    digest = hashlib.md5(payload.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return {**metadata, "has_payload": digest}, payload


def _line_setting(name: str, value: str) -> str:
    quoted = value.replace("'", '"')
    return f"os.environ['{name}'] = '{quoted}'\n"


def _begins_backward(event: str | None) -> bool:
    """Whether the compile of a backward graph begins, of which torch has no other record.

    Source: torch/_functorch/_aot_autograd/runtime_wrappers.py (CompiledFunction._backward_impl), 2.8 to 2.15.
    """
    return event is not None and '"entire_backward_compile"' in event and '"ph": "B"' in event


def envelope(metadata: Mapping[str, Any]) -> dict[str, int]:
    """The part of a record's metadata that says which compile it belongs to."""
    keys = ("frame_id", "frame_compile_id", "attempt")
    return {key: metadata[key] for key in keys if key in metadata}


def attach(stream: Stream, *, brief: bool) -> TraceHandler:
    """Send torch's structured trace to `stream` from now on."""
    handler = TraceHandler(stream, brief=brief)
    logger = logging.getLogger(_TRACE_LOGGER)
    logger.__class__ = _never_disabled(type(logger))
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    # First in the list: torch's own handler removes itself while the list is iterated over.
    logger.handlers.insert(0, handler)
    # Removed from the list of handlers that logging closes at exit. The weak references in it have a callback
    # that prints "Exception ignored" for handlers which live to the end of the interpreter, as those of this
    # logger do, whose class is new. Records are on disk already.
    known = cast(list[Any], vars(logging)["_handlerList"])
    known[:] = [reference for reference in known if reference() not in logger.handlers]
    _give_tracing_its_own_modules()
    return handler


def _never_disabled(kind: type[logging.Logger]) -> type[logging.Logger]:
    """A logger class that `dictConfig` and `logging.disable` do not silence, as they do by default.

    A record can come while Dynamo looks at every frame (a backward graph that is compiled at its first call):
    logging itself must not be compiled then. Source: torch/csrc/dynamo/eval_frame.c (set_eval_frame).
    """
    from torch._C._dynamo.eval_frame import set_eval_frame

    class TraceLogger(kind):  # type: ignore[misc, valid-type]
        disabled = property(lambda self: False, lambda self, value: None)

        def debug(self, *args: Any, **named: Any) -> None:
            callback = set_eval_frame(None)
            named["stacklevel"] = named.get("stacklevel", 1) + 1  # this method is one call more
            try:
                super().debug(*args, **named)
            finally:
                set_eval_frame(callback)

        def isEnabledFor(self, level: int) -> bool:
            return bool(level >= self.level)

    return TraceLogger


def _give_tracing_its_own_modules() -> None:
    """Give torch's tracing copies of json and hashlib, which a program may patch or shadow by its own files.

    torch's tracing uses neither without a handler, so a program that does this must work with ours as well.
    """
    import torch._logging._internal as logging_of_torch

    torch_logging: Any = logging_of_torch

    for module in (json, hashlib):
        copy = ModuleType(module.__name__)
        copy.__dict__.update(module.__dict__)
        setattr(torch_logging, module.__name__, copy)

    dumps = json.dumps

    def dumps_anything(value: Any, **named: Any) -> str:
        try:
            return dumps(value, **named)
        except Exception:
            return dumps(value, **{**named, "default": repr})

    torch_logging.json.dumps = dumps_anything


def let_texts_fail(utils: ModuleType, parts: "EngineParts") -> None:
    """Have a text for torch's trace that cannot be made say so, where torch would give up the graph.

    The text has tensors in it, whose `repr` the program may have replaced by one that reads their values; a
    fake tensor has none. Source: torchgen/utils.py (dataclass_repr), called for the trace alone in
    torch/_functorch/_aot_autograd, 2.8 to 2.15.
    """
    as_text = utils.dataclass_repr

    def dataclass_repr(*args: Any, **named: Any) -> Any:
        try:
            return as_text(*args, **named)
        except Exception as error:
            return f"not written: {type(error).__name__}"

    vars(utils)["dataclass_repr"] = dataclass_repr

"""The records of a stream without what is the user's.

Known records are rewritten field by field; unknown ones are left out.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..recording.trace_format import Damaged, Record, RecordParser
from ..shared import names
from ..shared.masking import RECORDED_VARIABLES
from .placeholders import is_of_torch
from .texts import Texts

_OURS = frozenset(
    value for name, value in vars(names).items() if name.isupper() and str(value).startswith("dynamo_")
) - {
    names.PROFILE_WINDOW,
    names.CALLS_PREFIX,
    names.PROFILE_PREFIX,
    names.RUN_FILE,
    names.PYTHON_PROCESSES_FILE,
}
# Records of torch's whose payload is text with the user's lines in comments or below places.
_TEXT_RECORDS = frozenset(
    [
        "dynamo_output_graph",
        "aot_joint_graph",
        "aot_forward_graph",
        "aot_backward_graph",
        "aot_inference_graph",
        "inductor_post_grad_graph",
        "dynamo_cpp_guards_str",
        "dynamo_graph_break_reason",
    ]
)
_TORCH_RECORDS = frozenset(
    [
        "str",
        "dynamo_start",
        "compilation_metrics",
        "bwd_compilation_metrics",
        "chromium_event",
        "create_symbol",
        "recompile_reasons",
        "symbolic_shape_specialization",
        "torch_version",
    ]
)
_CACHES = re.compile(r"\w+_cache_(?:hit|miss|bypass)")
_NUMBERS_OF_CONTEXT = ("rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")
_TEXTS_OF_METRICS = frozenset(
    ["compile_id", "frame_key", "co_name", "recompile_reason", "fail_type", "fail_reason", "restart_reasons"]
)
_ARGUMENTS_OF_EVENTS = frozenset(["compile_id", "fn_name", "cache_state"])
_TRACEBACK = "\nTraceback (most recent call last):\n"  # begins a stack of torch's own code

_PATHS = frozenset(["file", "filename", "co_filename", "cwd", "executable"])
_SOURCES = frozenset(["text", "loc"])
_MODULES = frozenset(["module", "program"])  # a program is called by its file or module
_COMMANDS = frozenset(["argv", "command", "dynamo_argv", "arguments"])
# Versions and hardware, which the reader of a bundle needs.
_UNCHANGED = frozenset(
    [
        "torch",
        "torch_git",
        "python",
        "dynamo",
        "cuda_build",
        "hip_build",
        "pytorch_version",
        "started",
        "devices",
        "encoding",
        "default_dtype",
        "float32_matmul_precision",
        "dtype",
        "device",
    ]
)
_VERSION = re.compile(r"[\w .,:+()/-]{1,100}")
_SWITCHES = ("assume_static_by_default", "automatic_dynamic_shapes")  # set by torch.compile's `dynamic`
_FIELD = re.compile(r"[a-z][a-z0-9_]{1,80}")
_OPCODE = re.compile(r"[A-Z][A-Z0-9_]{1,60}")


class Records:
    """Rewrites streams with the same placeholders; `left_out` counts omitted records, by name."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._torchs_files: set[int] = set()  # the numbers that torch's trace gives to files of torch's
        self.left_out: Counter[str] = Counter()

    def stream(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """The rewritten records of a stream, as bytes."""
        parser = RecordParser()
        for chunk in data:
            for record in parser.feed(chunk):
                yield self._record(record)
        last = parser.finish()
        if last is not None:
            yield self._record(last)
        self.left_out["damaged records"] += parser.damaged

    def _record(self, record: Record) -> bytes:
        name = record.artifact_name or record.kind
        try:
            content = self._content(name, record)
        except (Damaged, KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.left_out["damaged records"] += 1
            return b""
        if content is None:
            self.left_out[
                name if name.isidentifier() and len(name) < 60 and self._is_public_name(name) else "others"
            ] += 1
            return b""
        metadata, payload = content
        for key in _NUMBERS_OF_CONTEXT:
            if type(record.metadata.get(key)) is int:
                metadata[key] = record.metadata[key]
        writer = "dynamo_core/capture:0" if name in _OURS else "torch/_logging/_internal.py:0"
        lines = ""
        if payload is not None:
            metadata["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
            lines = "\t" + payload.replace("\n", "\n\t") + "\n"
        return f"V{record.time} 1 {writer}] {json.dumps(metadata)}\n{lines}".encode()

    def _is_public_name(self, name: str) -> bool:
        """Whether the name of a record reveals nothing about the program: some contain a function's name."""
        return self._texts.text(name) == name or name.startswith(
            ("inductor_", "fx_", "aot_", "before_", "after_")
        )

    def _content(self, name: str, record: Record) -> tuple[dict[str, Any], str | None] | None:
        """The JSON of the first line, and the payload; None for a record that is left out."""
        if name in _OURS:
            return self._head(record, name), self._our_payload(name, record)
        if name in _TEXT_RECORDS:
            text, _, _ = (record.payload() or "").partition(_TRACEBACK)
            return self._head(record, name), self._texts.text(text)
        if _CACHES.fullmatch(name):
            return self._head(record, name), None
        return self._torch_content(name, record) if name in _TORCH_RECORDS else None

    def _head(self, record: Record, name: str) -> dict[str, Any]:
        content = record.metadata[record.kind]
        if record.kind != "artifact":
            return {record.kind: self._value(content, "")}
        encoding = "json" if content.get("encoding") == "json" else "string"
        return {"artifact": {"name": name, "encoding": encoding}}

    def _torch_content(self, name: str, record: Record) -> tuple[dict[str, Any], str | None]:
        content = record.metadata[record.kind]
        if name == "str":
            text, number = content
            if is_of_torch(text):
                self._torchs_files.add(int(number))
            return {"str": [self._texts.path(text), int(number)]}, None
        if name.endswith("compilation_metrics"):
            return {name: self._metrics(content)}, None
        if name == "chromium_event":
            return {name: {}}, json.dumps(self._event(record.json_payload()))
        payload = record.payload()
        if payload is None:
            return self._head(record, name), None
        try:
            payload = json.dumps(self._value(json.loads(payload), ""))
        except ValueError:
            payload = self._texts.text(payload)
        return self._head(record, name), payload

    def _metrics(self, metrics: Mapping[str, Any]) -> dict[str, Any]:
        """Numbers, known texts, and of torch's settings only the switches."""
        found: dict[str, Any] = {}
        for key, value in metrics.items():
            if (isinstance(value, bool | int | float) or value is None) and _FIELD.fullmatch(key):
                found[key] = value
            elif key in _TEXTS_OF_METRICS or key in _PATHS:
                found[key] = self._value(value, key)
            elif key == "dynamo_config":
                settings = json.loads(value)
                found[key] = json.dumps(
                    {name: settings[name] is True for name in _SWITCHES if name in settings}
                )
        return found

    def _event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        arguments = event.get("args") or {}
        shown = {
            key: self._value(value, key)
            for key, value in arguments.items()
            if isinstance(value, bool) or key in _ARGUMENTS_OF_EVENTS
        }
        numbers = {key: event[key] for key in ("ts", "pid", "tid") if isinstance(event.get(key), int | float)}
        return {
            "name": self._texts.text(event["name"]),
            "ph": event["ph"] if event["ph"] in ("B", "E") else "i",
            **numbers,
            "args": shown,
        }

    def _our_payload(self, name: str, record: Record) -> str:
        """The payload in our own layout: lists that are on lines after the first stay there."""
        text = record.payload() or ""
        content = self.our_content(name, json.loads(text))
        first_line, _, rest = text.partition("\n")
        if not rest:
            return json.dumps(content)
        in_head = json.loads(first_line.rstrip().removesuffix(",") + "}")
        head = {key: value for key, value in content.items() if key in in_head}
        lists = {key: value for key, value in content.items() if key not in in_head}
        return f"{json.dumps(head)[:-1]},\n{json.dumps(lists)[1:]}"

    def our_content(self, name: str, content: dict[str, Any]) -> dict[str, Any]:
        """The content of one of our records, or of the run file."""
        if name == names.BYTECODE:
            lines = content.get("source", {})
            source_of = str if self._is_torchs(content) else self._texts.source
            source = {line: source_of(str(text)) for line, text in lines.items() if line.isdecimal()}
            rows = {
                key: [self._instruction(row) for row in content[key]]
                for key in ("original", "modified")
                if key in content
            }
            rest = {key: value for key, value in content.items() if key not in ("source", *rows)}
            replaced = {**self._value(rest, ""), "source": source, **rows}
            return {key: replaced[key] for key in content}
        replaced = self._value(content, "")
        assert isinstance(replaced, dict)
        return replaced

    def _instruction(self, row: list[Any]) -> list[Any]:
        offset, opcode, argument, *rest = row
        known = opcode if _OPCODE.fullmatch(opcode) else self._texts.text(opcode)
        shown = self._texts.source(argument) if "CONST" in known else self._texts.text(argument)
        return [int(offset), known, shown, *(None if n is None else int(n) for n in rest)]

    def _value(self, value: Any, key: str) -> Any:
        """A JSON value with its texts replaced; its key says what kind of text they are."""
        if isinstance(value, Mapping):
            if key == "environment":
                return {
                    name: self._texts.whole(str(text))
                    for name, text in value.items()
                    if name in RECORDED_VARIABLES
                }
            if key == "around":
                return {
                    line: self._texts.source(str(text)) for line, text in value.items() if line.isdecimal()
                }
            if key == "torch_config":
                return {
                    self._texts.text(config): self._settings(settings) for config, settings in value.items()
                }
            kept = _SOURCES if self._is_torchs(value) else ()
            return {
                self._texts.text(name): item
                if name in kept and isinstance(item, str)
                else self._value(item, name)
                for name, item in value.items()
            }
        if isinstance(value, list):
            modules = {at for at, before in enumerate(value, 1) if before == "-m" and key in _COMMANDS}
            return [self._value(item, "module" if at in modules else key) for at, item in enumerate(value)]
        return self._text_value(value, key) if isinstance(value, str) else value

    def _is_torchs(self, place: Mapping[str, Any]) -> bool:
        """Whether what is recorded is of a line of torch's own, which is no secret."""
        files = (place.get(key) for key in ("file", "filename"))
        return any(
            file in self._torchs_files if isinstance(file, int) else is_of_torch(file) for file in files
        )

    def _settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {
            self._texts.text(name): value
            if value in ("True", "False", "None")
            else self._texts.whole(str(value))
            for name, value in settings.items()
        }

    def _text_value(self, text: str, key: str) -> str:
        kinds: tuple[tuple[frozenset[str], Callable[[str], str]], ...] = (
            (_PATHS, self._texts.path),
            (_SOURCES, self._texts.source),
            (_COMMANDS, self._texts.argument),
            (_MODULES, self._texts.module),
        )
        for keys, replace in kinds:
            if key in keys:
                return replace(text)
        if key in _UNCHANGED and _VERSION.fullmatch(text):
            return text
        return self._texts.text(text)

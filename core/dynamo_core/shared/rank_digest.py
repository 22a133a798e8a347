"""A digest of what a rank did, some hundred bytes: ranks with equal digests are equivalent.

A process adds its own records to its digest while it writes them. A reader adds the records of a stream
without a digest, or those after the digest's end. Ranks with equal digests are the same in all that `dynamo
ranks` compares; where digests differ, the stream of one of the ranks shows the difference.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from . import names
from .graph_key import OrderOfGraph, hash_of, order_of_graph
from .launchers import OF_A_RANK

FORMAT, VERSION = "dynamo-digest", 1
LARGEST = 64 << 10  # bytes of a file
_LAST = 16  # entries of a chain whose hashes are kept
_ENTRY_DIGITS = 12

Text = Callable[[], str | None]


class Chain:
    """A sequence of entries: their number, a hash of all of them in order, and the last few hashes."""

    def __init__(self, count: int = 0, value: str = "", last: "list[str] | None" = None) -> None:
        self.count, self.value, self.last = count, value, last or []

    def add(self, *parts: object) -> None:
        """Fold one more entry into the digest."""
        entry = hash_of(*parts)
        self.count += 1
        self.value = hash_of(self.value, entry)
        self.last = [*self.last, entry[:_ENTRY_DIGITS]][-_LAST:]


class RankDigest:
    """The digest of the first `bytes` of a stream. `launch` is what the launcher set for the process."""

    ORDERS = ("settings", "graphs", "collectives", "breaks", "recompiles", "caches")

    def __init__(self) -> None:
        self.bytes = 0
        self.launch: dict[str, Any] = {}
        self.orders = {name: Chain() for name in self.ORDERS}
        self.compiling: list[str] = []
        self.compile_seconds = 0.0
        self.ended = False
        self._frame: list[Any] = []  # whose graph comes next
        self._handlers: dict[str, Callable[[str, Mapping[str, Any], Text], None]] = {
            names.PROCESS_START: self._start,
            names.PROCESS_STATE: self._state,
            names.PROCESS_END: self._end,
            names.CACHES: self._caches,
            names.FX_GRAPH: self._graph,
            names.GRAPH_COMPILED: self._compiled,
            names.GRAPH_BREAK: self._break,
            names.COMPILE_BEGUN: self._begun,
            names.FRAME: self._frame_ended,
            "dynamo_start": self._compile_starts,
            "dynamo_output_graph": self._foreign_graph,
            "dynamo_graph_break_reason": self._foreign_break,
            "compilation_metrics": self._metrics,
            "bwd_compilation_metrics": self._metrics,
        }

    def key(self) -> tuple[object, ...]:
        """A key that is equal for ranks that did the same, and are in the same compile."""
        chains = tuple((chain.count, chain.value) for chain in self.orders.values())
        return chains, tuple(self.compiling), self.ended

    def add(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        """Add a record, given its name or kind, its first line, and a function that reads its payload."""
        handle = self._handlers.get(name)
        if handle is not None:
            handle(name, metadata, text)
        elif is_cache_lookup(name):
            self.orders["caches"].add(name)

    def is_wanted(self, name: str) -> bool:
        """Whether `add` looks at records of this name."""
        return name in self._handlers or is_cache_lookup(name)

    def _start(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        content = _json(text)
        fields = ("host", "job", "attempt", "rank", "rank_unsure", "pid", "ppid", "started_ns", "forked")
        self.launch = {name: content.get(name) for name in fields}
        environment = {k: v for k, v in (content.get("environment") or {}).items() if k not in OF_A_RANK}
        self.orders["settings"].add(content.get("torch"), content.get("python"), sorted(environment.items()))

    def _state(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        self.orders["settings"].add(_json(text).get("torch_config"))

    def _caches(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        self.orders["settings"].add(_json(text).get("held_graphs"))

    def _end(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        self.ended = True
        self.compiling = []

    def _compile_starts(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        frame = metadata[name]["stack"][-1:]
        self._frame = [[entry.get("name"), entry.get("line")] for entry in frame]
        if isinstance(metadata.get("rank"), int):
            self.launch |= {"rank": metadata["rank"], "rank_unsure": 0}

    def _graph(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        first, _, _ = (text() or "").partition("\n")
        content = json.loads(first.rstrip(",") + "}")
        if "order" in content:
            order = OrderOfGraph(*content["order"])
        else:  # recorded by an earlier version
            order = order_of_graph(_json(text)["nodes"])
        self.orders["graphs"].add(self._frame, order.ops)
        for group, collective in order.collectives:
            self.orders["collectives"].add(group, collective)

    def _compiled(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        content = _json(text)
        self.orders["graphs"].add("compiled", content["graph"], content.get("specialization"))

    def _break(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        content = _json(text)
        where = [[each["file"], each["line"]] for each in content["user_stack"][-1:]]
        self.orders["breaks"].add(where, _without_numbers(content["reason"]))

    def _foreign_graph(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        if not self.launch.get("pid"):
            self.orders["graphs"].add(self._frame, _without_numbers(text() or ""))

    def _foreign_break(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        if not self.launch.get("pid"):
            self.orders["breaks"].add(_without_numbers(text() or ""))

    def _begun(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        compile_id = _compile_id(metadata)
        if compile_id not in self.compiling:
            self.compiling.append(compile_id)

    def _frame_ended(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        compile_id = _compile_id(metadata)
        if compile_id in self.compiling:
            self.compiling.remove(compile_id)

    def _metrics(self, name: str, metadata: Mapping[str, Any], text: Text) -> None:
        metrics = metadata[name]
        self.compile_seconds += (metrics.get("duration_us") or 0) / 1e6
        reason = metrics.get("recompile_reason")
        if reason is not None:
            where = metrics.get("co_name"), metrics.get("co_filename"), metrics.get("co_firstlineno")
            self.orders["recompiles"].add(where, _without_numbers(reason))
        if name == "bwd_compilation_metrics":
            self._frame_ended(name, metadata, text)

    def to_json(self) -> str:
        """The digest as its file holds it."""
        orders = {name: [chain.count, chain.value, chain.last] for name, chain in self.orders.items()}
        content = {
            "format": FORMAT,
            "version": VERSION,
            "bytes": self.bytes,
            "launch": self.launch,
            "orders": orders,
            "compiling": self.compiling,
            "compile_seconds": self.compile_seconds,
            "ended": self.ended,
            "frame": self._frame,
        }
        return json.dumps(content)

    @classmethod
    def from_json(cls, text: str) -> "RankDigest":
        """The digest in a file's text; ValueError, TypeError, KeyError or AttributeError if it is none."""
        content = json.loads(text)
        if (content["format"], content["version"]) != (FORMAT, VERSION):
            raise ValueError("not a digest that this version reads")
        digest = cls()
        digest.bytes, digest.launch = int(content["bytes"]), dict(content["launch"])
        for name, chain in digest.orders.items():
            count, value, last = content["orders"][name]
            chain.count, chain.value, chain.last = int(count), str(value), [str(each) for each in last]
        digest.compiling = [str(each) for each in content["compiling"]]
        digest.compile_seconds = float(content["compile_seconds"])
        digest.ended, digest._frame = content["ended"] is True, list(content["frame"])
        return digest


def is_cache_lookup(name: str) -> bool:
    """Whether a record of this name is a look-up in one of torch's caches."""
    return name.endswith(("_cache_hit", "_cache_miss", "_cache_bypass", "_code_state"))


def _json(text: Text) -> Any:
    return json.loads(text() or "null")


def _compile_id(metadata: Mapping[str, Any]) -> str:
    return f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}"


def _without_numbers(text: str) -> str:
    """The text without numbers and addresses, which may differ between ranks."""
    import re

    return re.sub(r"0x[0-9a-fA-F]+|\d+", "#", text)

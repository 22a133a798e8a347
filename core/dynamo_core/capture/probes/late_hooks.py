"""Probe: hooks that the program puts on a module after a graph with it was compiled, and calls of the graph.

torch's guards pass over hooks (`torch._dynamo.config.skip_nnmodule_hook_guards`), so that a graph which was
compiled without them is called, and they are not. With the setting off it is compiled anew.

Source: torch/nn/modules/module.py (register_forward_hook and the like make a RemovableHandle of the module's
own dictionary of hooks), torch/utils/hooks.py (RemovableHandle), torch/_dynamo/guards.py
(EMPTY_NN_MODULE_HOOKS_DICT), torch/_dynamo/variables/nn_module.py (record_nn_module_stack: a key begins with
the module's id). Read in 2.8 to 2.15, run with 2.13.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import ref

from ...shared.records import HooksNotCalled
from ..frames.program_files import is_own
from ..frames.source import frames_outwards, stack_line

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph
    from torch.fx import GraphModule

    from ..engine_parts import EngineParts

NAME = "hooks that compiled code does not call"
_KINDS = {
    "_forward_hooks": "forward hook",
    "_forward_pre_hooks": "forward pre-hook",
    "_backward_hooks": "backward hook",
    "_backward_pre_hooks": "backward pre-hook",
}
_ROOT = re.compile(r"([LG])\['(\w{1,200})'\]")
_MOST = 1000  # a program can put on hooks without end


def install(output_graph: ModuleType, parts: "EngineParts") -> None:
    """Have the probe of graphs say which modules are compiled."""
    parts.late_hooks = LateHooks(parts)


class _Modules:
    """The modules of the graphs of this process, by the id of each of their dictionaries of hooks."""

    def __init__(self) -> None:
        self._by_dictionary: dict[int, tuple[Any, str]] = {}
        self._graphs: dict[int, dict[int, int]] = {}

    def compiled(self, module: Any, graph: int, page: int) -> None:
        """Take note that a graph has this module; `page` counts its calls."""
        self._graphs.setdefault(id(module), {})[graph] = page
        for attribute in _KINDS:
            self._by_dictionary[id(getattr(module, attribute))] = (ref(module), attribute)

    def with_hooks(self, dictionary: Any) -> tuple[Any, str, dict[int, int]] | None:
        """The module with this dictionary, the kind of its hooks, and the pages of the module's graphs."""
        reference, attribute = self._by_dictionary.get(id(dictionary), (None, ""))
        module = None if reference is None else reference()
        if module is None or getattr(module, attribute) is not dictionary:
            return None
        return module, _KINDS[attribute], self._graphs[id(module)]

    def clear(self) -> None:
        """Forget all."""
        self._by_dictionary.clear()
        self._graphs.clear()


class _SetLast:
    """The attribute of a handle that its `__init__` sets last, by which a new one is noticed.

    A function in place of `__init__` would be seen by Dynamo where it traces that, and be torch's reason for
    the graph break. It breaks before it comes to this attribute: `next_id` of the class is set first.
    """

    def __init__(self, is_made: Callable[[Any], Any]) -> None:
        self._is_made = is_made

    def __set__(self, handle: Any, value: Any) -> None:
        is_new = "extra_dict_ref" not in vars(handle)
        vars(handle)["extra_dict_ref"] = value
        if is_new:
            self._is_made(handle)

    def __get__(self, handle: Any, owner: Any = None) -> Any:
        try:
            return self if handle is None else vars(handle)["extra_dict_ref"]
        except KeyError:
            raise AttributeError("extra_dict_ref") from None


class _Hook:
    """A hook in place on a module of graphs: the pages of these, and how often they were called before it."""

    def __init__(self, line: dict[str, Any], what: str, on: str, before: dict[int, tuple[int, int]]) -> None:
        self.line = line
        self.what = what
        self.on = on
        self.before = before


class LateHooks:
    """The hooks of this process that were put on modules of graphs after these had been compiled."""

    def __init__(self, parts: "EngineParts") -> None:
        self._probes = parts.probes
        self._calls_of = parts.stream.counters.calls_of
        self._modules = _Modules()
        self._is_watching = False
        self._in_place: dict[int, _Hook] = {}
        self._records: dict[tuple[Any, ...], HooksNotCalled] = {}
        self.compiled = parts.probes.guarded(NAME)(self._compiled)
        self.finish = parts.probes.guarded(NAME)(self._finish)
        os.register_at_fork(after_in_child=self._forget)  # a child is not to speak of its parent's

    def _forget(self) -> None:
        self._modules.clear()
        self._in_place.clear()
        self._records.clear()

    def _compiled(self, gm: "GraphModule", owner: "OutputGraph", graph: int, page: int) -> None:
        paths = {
            key.partition("@")[0]: path
            for node in gm.graph.nodes
            for key, (path, _) in (node.meta.get("nn_module_stack") or {}).items()
        }
        for root in _roots(paths.values(), owner):
            for module in root.modules():
                if str(id(module)) in paths:
                    self._modules.compiled(module, graph, page)
                    self._watch()

    def _watch(self) -> None:
        if self._is_watching:
            return
        self._is_watching = True
        from torch.utils.hooks import RemovableHandle

        def remove(proceed: Callable[..., Any], handle: Any) -> None:
            self._taken_off(handle.id)
            proceed(handle)

        self._probes.hook(RemovableHandle, "remove", NAME, remove)
        put_on = self._probes.guarded(NAME)(self._put_on)
        RemovableHandle.extra_dict_ref = _SetLast(put_on)  # type: ignore[assignment]

    def _put_on(self, handle: Any) -> None:
        found = self._modules.with_hooks(handle.hooks_dict_ref())
        if found is None or len(self._in_place) >= _MOST:
            return
        module, what, pages = found
        own = next((frame for frame in frames_outwards() if is_own(frame.f_code.co_filename)), None)
        if own is not None:
            before = {graph: (page, self._calls_of(page)) for graph, page in pages.items()}
            self._in_place[handle.id] = _Hook(stack_line(own), what, type(module).__qualname__, before)

    def _taken_off(self, handle: int) -> None:
        hook = self._in_place.pop(handle, None)
        if hook is None:
            return
        calls = {graph: self._calls_of(page) - before for graph, (page, before) in hook.before.items()}
        called = [graph for graph, times in calls.items() if times]
        if not called:
            return
        key = (hook.line["file"], hook.line["line"], hook.what)
        if key not in self._records:
            none: dict[str, Any] = {"classes": [], "graphs": [], "hooks": 0, "left_out": 0}
            self._records[key] = HooksNotCalled(line=hook.line, what=hook.what, **none)
        record = self._records[key]
        record.classes = sorted({*record.classes, hook.on})
        record.graphs = sorted({*record.graphs, *called})
        record.hooks += 1
        record.left_out += sum(calls.values())

    def _finish(self) -> None:
        for handle in list(self._in_place):
            self._taken_off(handle)
        for record in self._records.values():
            self._probes.stream.record(record)


def _roots(paths: Iterable[str], owner: "OutputGraph") -> Iterator[Any]:
    """The modules in the scope of a frame, or held by an object there, at which the paths of others begin."""
    import torch

    names = {found.groups() for found in map(_ROOT.match, paths) if found is not None}
    for scope, name in sorted(names):
        root = (owner.local_scope if scope == "L" else owner.global_scope).get(name)
        held = [root] if isinstance(root, torch.nn.Module) else list(getattr(root, "__dict__", {}).values())
        yield from (each for each in held if isinstance(each, torch.nn.Module))

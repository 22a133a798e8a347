"""Probe: the operator for which one of torch's caches does not take a graph, and the user's line with it.

Source: torch/_inductor/codecache.py (FxGraphCache._check_can_cache, which raises BypassFxGraphCache for a
higher-order operator that is not cacheable) and torch/_functorch/_aot_autograd/autograd_cache.py
(check_node_safe). torch names the operator, but not the function that it stands for, nor a line. Read in 2.8
to 2.15, run with 2.13.
"""

import linecache
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import CacheBypassedBy
from ..frames.source import current_compile_id, line_of_call, user_line

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_NAME = "what bypasses a cache"
_OF_AN_OPERATOR = "HigherOrderOperator"  # in torch's reason


def install_on_inductor(codecache: ModuleType, parts: "EngineParts") -> None:
    """Record the operator where Inductor's cache does not take a graph because of one."""
    cache: Any = codecache
    original = cache.FxGraphCache._check_can_cache

    @parts.probes.guarded(_NAME)
    def note(gm: Any, error: Exception) -> None:
        node = next(_not_kept(gm), None) if _OF_AN_OPERATOR in str(error) else None
        if node is not None:
            _record(parts, node)

    def _check_can_cache(gm: Any, *rest: Any, **named: Any) -> Any:
        try:
            return original(gm, *rest, **named)
        except Exception as error:
            note(gm, error)
            raise

    cache.FxGraphCache._check_can_cache = staticmethod(_check_can_cache)


def install_on_aot_autograd(autograd_cache: ModuleType, parts: "EngineParts") -> None:
    """Record the node of which AOTAutograd's cache does not know what it does."""
    cache: Any = autograd_cache
    original = cache.check_node_safe

    @parts.probes.guarded(_NAME)
    def note(node: Any) -> None:
        _record(parts, node)

    def check_node_safe(node: Any) -> Any:
        try:
            return original(node)
        except Exception:
            note(node)
            raise

    cache.check_node_safe = check_node_safe


def _not_kept(gm: Any) -> Iterator[Any]:
    from torch._ops import HigherOrderOperator
    from torch.fx import GraphModule

    for module in gm.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            if isinstance(node.target, HigherOrderOperator) and not node.target.cacheable():
                yield node


def _record(parts: "EngineParts", node: Any) -> None:
    parts.probes.stream.record(
        CacheBypassedBy(operator=_operator(node), line=_line(node.meta.get("stack_trace"))),
        current_compile_id(),
    )


def _operator(node: Any) -> str:
    """The function that the program calls, where that is known: an operator may stand for a part of it."""
    sources = node.meta.get("source_fn_stack") or [(None, node.target)]
    function = sources[-1][1]
    return str(getattr(function, "__name__", function))


def _line(stack_trace: str | None) -> dict[str, Any] | None:
    place = line_of_call(stack_trace) or user_line(stack_trace)
    if place is None:
        return None
    file, line = place
    return {"file": file, "line": line, "name": "", "text": linecache.getline(file, line).strip()}

"""Probe: the guards of each cache entry, in structured form; torch's trace has them as one text.

Source: torch/_dynamo/guards.py (CheckFunctionManager.__init__), torch/_guards.py (Guard). The second
argument is the output graph in torch 2.8 to 2.15. Run with 2.13.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import GuardsMade
from ..frames.source import current_compile_id
from ..torch_versions import guard_type, source_name

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


def install(guards: ModuleType, parts: "EngineParts") -> None:
    """Wrap `CheckFunctionManager.__init__`, which gives each guard the code that checks it."""
    probes, guard_cost = parts.probes, parts.guard_cost
    original = guards.CheckFunctionManager.__init__

    @probes.guarded("guards")
    def record_guards(output_graph: Any) -> None:
        described = [_guard(guard) for guard in output_graph.guards]
        # torch's own order takes 20 times as long.
        described.sort(key=lambda guard: (guard["source"], guard["type"]))
        probes.stream.record(GuardsMade(guards=described), current_compile_id())

    @probes.guarded("cost of guards")
    def remember(f_code: Any, checks: Any) -> None:
        guard_cost.add_entry(current_compile_id(), f_code, checks.guard_manager)

    def __init__(self: Any, f_code: Any, output_graph: Any, *rest: Any, **named: Any) -> None:
        original(self, f_code, output_graph, *rest, **named)
        if not parts.settings.brief:
            record_guards(output_graph)
        remember(f_code, self)

    guards.CheckFunctionManager.__init__ = __init__


def _guard(guard: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": guard_type(guard),
        "source": source_name(guard),
        "scope": guard.source.name.lower() if guard.source else None,
        "code": guard.code_list or [],
    }
    if guard.user_stack:
        innermost = guard.user_stack[-1]
        described["file"], described["line"] = innermost.filename, innermost.lineno
    return described

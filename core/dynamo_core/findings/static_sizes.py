"""What to do where a backend fails on a graph with dynamic sizes: keep them static."""

import re

from ..analysis.recompile_causes import RecompileCause
from ..analysis.summary import failed_to_compile
from ..model import Frame
from ..remedies.rules import Advice, Assignment, Change

# torch/_dynamo/exc.py (BackendCompilerFailed) and torch/_inductor/exc.py (InductorError), 2.8 to 2.15.
_OF_A_BACKEND = re.compile(r"BackendCompilerFailed\b|InductorError\b")
KEEP_STATIC = Advice(
    "pass `dynamic=False` to `torch.compile`: the backend failed on a graph with a dynamic size, and sizes "
    "then stay numbers. Each of them is a version of its own, so keep them few.",
    Change(arguments=(Assignment("dynamic", "False"),)),
    may_change="each size is compiled again, up to torch's recompile limit",
)


def failed_in_a_backend(frame: Frame) -> bool:
    """Whether the backend raised an error for the graph of a frame."""
    return failed_to_compile(frame) and _OF_A_BACKEND.match(frame.reason or "") is not None


def fails_if_dynamic(cause: RecompileCause) -> bool:
    """Whether the backend failed on a version in which what differed was dynamic."""
    if cause.dynamic is False:
        return False
    dynamic = {symbol.compile_id for symbol in cause.symbols}
    frames = cause.frame.process.frames
    return any(each.compile_id in dynamic and failed_in_a_backend(each) for each in frames)

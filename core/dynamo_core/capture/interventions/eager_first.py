"""`--verify` where the process cannot be copied: a call is made in eager first, and its changes are put back.

So it can be where CUDA is in use, which no fork can use, if DYNAMO_VERIFY_IN_PROCESS asks for it: it has not
run on a GPU yet. The program must not notice: what cannot be put back is
refused before the call (`saved_state.py`); what reaches out of the process, or writes what autograd follows,
is refused as it happens; nothing is printed. Gradients and stages are not looked at: that takes a copy.

Source: torch/utils/_python_dispatch.py (TorchDispatchMode), torch/_dynamo/decorators.py (set_stance), 2.8 to
2.15; run with 2.13.
"""

import functools
import io
import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..forking import has_other_threads
from .call_in_copy import EAGER, FILLED, ROUNDED, ProgramCall, saved
from .fork_server import CannotTry, NoAnswer, refuser
from .saved_state import SavedState


class EagerFirst:
    """The answers of `fork_server.ForkServer`, as far as there are any without a copy.

    Raises CannotTry where the call cannot be made twice.
    """

    def __init__(self, program: ProgramCall, why_no_copy: str) -> None:
        self._program = program
        self.why_no_copy = why_no_copy
        if has_other_threads():
            raise CannotTry("other threads of the program may change values")
        if _has_other_ranks():
            raise CannotTry("it may communicate with other ranks")
        self._before = program.saved_state()
        self._first = self._made(EAGER)

    def ask(self, request: str, seconds: float, given: bytes = b"") -> bytes:
        """What the call leaves in eager. Raises NoAnswer for what only a copy knows."""
        if given or not request.startswith((EAGER, FILLED, ROUNDED)):
            raise NoAnswer(self.why_no_copy)
        if request == EAGER and self._first:
            answer, self._first = self._first, b""
            return answer
        try:
            now = self._program.saved_state()
            try:
                self._before.put_back()
                return self._made(request)
            finally:
                now.put_back()
        except CannotTry as error:
            raise NoAnswer(f"{self.why_no_copy}, and {error}") from None

    def end(self) -> None:
        """Let go of what was kept."""
        self._first = b""
        del self._before

    def _made(self, request: str) -> bytes:
        """What the call leaves when it is made now, in the state before it, which is put back."""
        refusals: list[str] = []
        try:
            with _nothing_reaches_out(refusals), _nothing_compiled(), _writing_mode(self._before, refusals):
                answer = bytes(saved(self._program.made_in_eager(request)))
        finally:
            self._before.put_back()
        if refusals:  # the program may have handled the exception
            raise CannotTry(refusals[0])
        return answer


def _has_other_ranks() -> bool:
    distributed = sys.modules["torch"].distributed
    return bool(
        distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
    )


@contextmanager
def _nothing_compiled() -> Iterator[None]:
    import torch
    from torch._C._dynamo.eval_frame import set_eval_frame

    before = set_eval_frame(None)
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        set_eval_frame(before)
        if torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu"):
            torch.clear_autocast_cache()  # casts that this call has made are of another graph of autograd's


class _Silent:
    """A stream of text that is as another one, and writes nothing."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.buffer = io.BytesIO()

    def write(self, text: str) -> int:
        return len(text)

    def writelines(self, lines: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


_refused_now: dict[int, list[str]] = {}  # by the thread, while nothing may reach out of it


@contextmanager
def _nothing_reaches_out(refusals: list[str]) -> Iterator[None]:
    """While a call is made that nobody must notice: no file is written, and no text."""
    _install_audit()
    streams, disabled = (sys.stdout, sys.stderr), logging.root.manager.disable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable()
        sys.stdout, sys.stderr = (_Silent(stream) for stream in streams)
        _refused_now[threading.get_ident()] = refusals
        try:
            yield
        finally:
            del _refused_now[threading.get_ident()]
            sys.stdout, sys.stderr = streams
            logging.disable(disabled)


def _install_audit() -> None:
    """Have what reaches out of the process refused, where it is not to; a hook cannot be taken out again."""
    if not _has_audit:
        _has_audit.append(True)
        refuse = refuser()

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            refusals = _refused_now.get(threading.get_ident())
            if refusals is not None:
                try:
                    refuse(event, arguments)
                except CannotTry as error:
                    refusals.append(str(error))
                    raise

        sys.addaudithook(audit)


_has_audit: list[bool] = []


def _writing_mode(state: SavedState, refusals: list[str]) -> Any:
    """A mode in which what cannot be put back raises CannotTry: what autograd would go on knowing of."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    def refuse(reason: str) -> None:
        refusals.append(reason)
        raise CannotTry(reason)

    class RefusesWrites(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if state.has_history and torch._C._current_graph_task_id() != -1:
                refuse("it runs a backward through what was made before it")
            if torch.is_grad_enabled() and _writes_what_autograd_follows(func, args, kwargs, state):
                refuse("it writes a tensor that autograd follows")
            if _is_written_in_python(func):
                refuse(f"it calls an operator that is written in Python ({func.name()})")
            return func(*args, **kwargs)

    return RefusesWrites()  # type: ignore[no-untyped-call]


@functools.cache
def _is_written_in_python(func: Any) -> bool:
    """Whether an operator is one of the program's, whose functions are not known (`saved_state.py`).

    Source: torch/library.py (Library.define, Library.impl), torch/_library/custom_ops.py, 2.8 to 2.15.
    """
    import torch
    from torch._library.custom_ops import OPDEFS

    name = func.name().partition(".")[0]
    if func.namespace in ("aten", "prims") or name in OPDEFS:
        return False
    implemented = (key.rpartition("/")[0].replace("/", "::") for key in torch.library._impls)
    in_python = {*torch.library._defs, *implemented}
    return name in in_python or func.name() in in_python


def _writes_what_autograd_follows(func: Any, args: Any, kwargs: Any, state: SavedState) -> bool:
    import torch
    from torch.utils._pytree import tree_leaves

    def tensors(values: Any) -> Iterator[Any]:
        return (each for each in tree_leaves(values) if isinstance(each, torch.Tensor))

    written = [
        args[i] if i < len(args) else kwargs.get(each.name)
        for i, each in enumerate(func._schema.arguments)
        if each.alias_info is not None and each.alias_info.is_write
    ]
    return any(state.is_known(each) for each in tensors(written)) and any(
        each.requires_grad for each in tensors((args, kwargs))
    )

"""One wrapper around each function of torch that several parts of the engine hook into, and their order.

A hook is called as `hook(proceed, *arguments)` in place of torch's function, and returns what the function is
to return; `proceed(*arguments)` calls the hooks after it, and then torch's function. An Exception of a hook's
own is recorded as a probe that failed, and the call goes on without the hook.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from .printed_tracebacks import passes_through_us

Hook = Callable[..., Any]
Failed = Callable[[str, BaseException], None]

# The hooks of functions that several hook into, outermost first: of two, the earlier is around the later.
ORDER = (
    "limits on backends",  # a graph that is deferred is not recorded
    "tracing limits",  # a function that is not traced takes no time
    "freeze",  # a frame that is not to be compiled is none that Dynamo tried
    "calls of the program beside eager",
    "steps",  # a step begins before the first call of its graph is counted
    "overrides",  # a graph is recorded with the backend that compiles it
    "graphs",
    "frames",
    "tracing time",
    "caches",
    "backward calls",
    "calls of torch.compile",
)
_FRAMES_OF_A_HOOK = 3  # on Python's stack: its guard, the hook itself, and `proceed`


def add_hook(
    owner: Any, function: str, name: str, hook: Hook, failed: Failed, raises: tuple[type[Exception], ...]
) -> None:
    """Put a hook around a function of a class or module of torch's, at the place that `ORDER` gives its name.

    `failed` is given the name and the error of a hook that fails. What is in `raises` is meant for torch or
    the program, and reaches it.
    """
    hooked = getattr(vars(owner).get(function), "hooked", None)
    if hooked is None:
        hooked = _HookedFunction(getattr(owner, function))
        setattr(owner, function, hooked.wrapper())
    hooked.add(name, lambda rest: _guarded(name, hook, rest, failed, raises))


class _HookedFunction:
    """A function of torch's with the hooks around it."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self._original = original
        self._hooks: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {}
        self._call = original

    def add(self, name: str, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        hooks = {**self._hooks, name: around}
        names = sorted(hooks, key=ORDER.index) if len(hooks) > 1 else hooks
        call = self._original
        for each in reversed(list(names)):
            call = hooks[each](call)
        self._hooks, self._call = hooks, call

    def wrapper(self) -> Callable[..., Any]:
        """The function that takes the place of torch's.

        Where torch passes on how many innermost frames are not the program's (`skip` of the converters of
        torch/_dynamo/convert_frame.py, 2.8 to 2.15), ours are added.
        """
        counts_frames = "skip" in getattr(getattr(self._original, "__code__", None), "co_varnames", ())

        def wrapper(*args: Any, **named: Any) -> Any:
            if counts_frames:
                named["skip"] = named.get("skip", 0) + 1 + _FRAMES_OF_A_HOOK * len(self._hooks)
            return self._call(*args, **named)

        # A program may print the name of a function of torch.
        update_wrapper(wrapper, self._original, updated=())
        wrapper.hooked = self  # type: ignore[attr-defined]
        return wrapper


class _Rest:
    """The rest of one call, and how it has ended."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self._has_returned = False
        self._result: Any = None
        self.error: BaseException | None = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        try:
            self._result = self._call(*args, **named)
        except BaseException as error:
            self.error = error
            passes_through_us()
            raise
        self._has_returned = True
        return self._result

    def ended(self, *args: Any, **named: Any) -> Any:
        """What the rest has returned or raised; it is called now if the hook did not come to that."""
        if self.error is not None:
            raise self.error
        return self._result if self._has_returned else self._call(*args, **named)


def _guarded(
    name: str, hook: Hook, rest: Callable[..., Any], failed: Failed, raises: tuple[type[Exception], ...]
) -> Callable[..., Any]:
    def guarded(*args: Any, **named: Any) -> Any:
        proceed = _Rest(rest)
        try:
            try:
                return hook(proceed, *args, **named)
            except raises:
                raise
            except Exception as error:
                if error is proceed.error:
                    raise
                failed(name, error)
            return proceed.ended(*args, **named)
        finally:
            proceed.error = None  # its traceback holds this frame

    return guarded

"""`pytest --dynamo`: what torch.compile makes of each test, held against bounds and a lock file."""

TYPE_CHECKING = False  # pytest imports this at each start: it must cost nothing
if TYPE_CHECKING:
    from .outcome import Compiled as Compiled


def __getattr__(name: str) -> object:
    """The public name, imported when it is used."""
    if name == "Compiled":
        from .outcome import Compiled

        return Compiled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

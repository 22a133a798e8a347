"""What TorchDynamo made of a program: recording it, and reading the recording.

PYTEST_DONT_REWRITE: pytest would warn that it cannot rewrite the assertions of a plugin's distribution where
that is loaded already, as it is under `dynamo run -m pytest`.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing is not imported here: this runs in the user's program, before its first line
if TYPE_CHECKING:
    from .api import Case as Case
    from .api import open as open


def __getattr__(name: str) -> object:
    """The public names, imported when they are used: the engine needs none of them."""
    if name in ("Case", "open"):
        from . import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

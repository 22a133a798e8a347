"""Whose a line is: the user's own, or an installed package's, as far as its path tells."""

import re

from ..model import Place

CELL = (
    "In["  # with which the name of a notebook's cell begins, `In[3]`; other files of the user's are absolute
)
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "/dynamo_core/", "<frozen ", "<string>")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/([^/.]{1,100})")
_STANDARD = re.compile(r"(?:/lib/python3[^/]{0,20}/|<frozen )([A-Za-z_]\w{0,99})")


def is_library(place: Place) -> bool:
    """Whether a place is in an installed package or the standard library."""
    return any(part in place.file for part in _LIBRARY)


def package_of(place: Place) -> str | None:
    """The package, or the module of the standard library, that a place is in; None for the user's own."""
    found = _PACKAGE.search(place.file) or _STANDARD.search(place.file)
    return found[1] if found else None

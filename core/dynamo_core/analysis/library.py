"""Whose a line is: the user's own, or an installed package's, as far as its path tells."""

import re

from ..model import Place

CELL = (
    "In["  # with which the name of a notebook's cell begins, `In[3]`; other files of the user's are absolute
)
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "/dynamo_core/", "<frozen ", "<string>")
# Inductor's, wherever its cache is. Source: torch/_inductor/codecache.py (code_hash, get_path), read in 2.13.
_GENERATED = re.compile(r"/(\w\w)/c\1[a-z2-7]{49}\.py$")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/([^/.]{1,100})")
_STANDARD = re.compile(r"(?:/lib/python3[^/]{0,20}/|<frozen )([A-Za-z_]\w{0,99})")


def is_library(place: Place) -> bool:
    """Whether a place is in an installed package, the standard library, or code that Inductor wrote."""
    return any(part in place.file for part in _LIBRARY) or _GENERATED.search(place.file) is not None


def package_of(place: Place) -> str | None:
    """The package, or the module of the standard library, that a place is in; None for the user's own."""
    found = _PACKAGE.search(place.file) or _STANDARD.search(place.file)
    return found[1] if found else None

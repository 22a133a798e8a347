"""A module that cannot be imported."""


def _fail() -> None:
    raise ImportError("something that this module needs is missing", name="something")


_fail()

"""The version of torch that the tests run with, which they do not import."""

from importlib.metadata import version

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])

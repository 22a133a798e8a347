"""What differs between the versions of torch that the probes meet; nothing else may ask for a version.

Read in the sources of 2.8 to 2.15; run with 2.8.0, 2.13.0 and 2.15.0.
"""

from typing import Any


def source_name(source: Any) -> str:
    """The expression of a `Source` or `Guard`: `name` is a property from torch 2.10 on, a method before."""
    name = source.name
    return str(name() if callable(name) else name)


def guard_type(guard: Any) -> str:
    """`TENSOR_MATCH` and the like; `Guard.create_fn_name` is there from torch 2.9 on."""
    return str(guard.inner_create_fn().__name__)


def resume_function_installer(output_graph_class: Any) -> str:
    """The method that gives a resume function its global name: one of its own from torch 2.10 on."""
    own = "install_resume_function_global"
    return own if hasattr(output_graph_class, own) else "install_global_unsafe"

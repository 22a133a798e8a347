"""Which kernels the code has that Inductor generated, and how often it calls them.

Source: torch/_inductor/codegen/wrapper.py (PythonWrapperCodegen.define_kernel, generate_kernel_call), 2.8 to
2.15: a kernel is defined as `NAME = async_compile.BACKEND(`, and called as `NAME(` (C++) or `NAME.run(`
(Triton). Torch writes the code into its trace where it came from a cache, too. Run with 2.13.
"""

import re
from collections import Counter

from ..shared.untrusted import printable

# Asked for in `contents`.
GENERATED_KERNELS = "kernels in generated code"
GENERATED_CODE = "inductor_output_code"

_DEFINITION = re.compile(rb"\t*(\w{1,1000}) = async_compile\.(?!wait\b)\w")
_MARK = b" = async_compile."  # of a definition; searching for a plain text costs next to nothing
_ALL_DEFINED = b"async_compile.wait("
_CALL = re.compile(rb"\n\t? {1,200}(\w{1,1000})(?:\.run)?\(")


def kernels_in(code: bytes) -> dict[str, int]:
    """How often the code calls each kernel that it defines; a stranger's names are made safe."""
    calls = Counter(call[1] for call in _CALL.finditer(code, max(0, code.rfind(_ALL_DEFINED))))
    found: dict[str, int] = {}
    at = code.find(_MARK)
    while at >= 0:
        defined = _DEFINITION.match(code, code.rfind(b"\n", 0, at) + 1)
        if defined is not None:
            found[printable(defined[1].decode("utf-8", "replace"))] = calls[defined[1]]
        at = code.find(_MARK, at + 1)
    return found

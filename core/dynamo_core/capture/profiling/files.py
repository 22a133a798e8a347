"""Pack an exported trace, a piece at a time: it can be larger than what memory is free."""

import os
import zlib

from ..primitives import create_private

_PIECE = 1 << 20  # bytes
_LEVEL = 1  # a tenth of the size; better would keep the program waiting several times as long
_GZIP = zlib.MAX_WBITS + 16


def compress(plain: str, packed: str) -> None:
    """Make the gzip file `packed` of `plain`, which goes. A `packed` that exists is whole."""
    unfinished = f"{packed}.part"
    compressor = zlib.compressobj(_LEVEL, wbits=_GZIP)
    try:
        with open(plain, "rb") as source, open(unfinished, "xb", opener=create_private) as target:
            while piece := source.read(_PIECE):
                target.write(compressor.compress(piece))
            target.write(compressor.flush())
        os.rename(unfinished, packed)
    finally:
        for left_over in (plain, unfinished):
            if os.path.exists(left_over):
                os.unlink(left_over)

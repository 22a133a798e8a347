"""What a recording notes of its program so that it can be run again, and the mark that it was made here.

A recording names a command, and somebody else's may name any. What this machine, since it was started, wrote
itself is known by a mark: a digest of the boot's random id, the user and the folder's place on disk, which
nobody can make up elsewhere, and which does not hold for a copy.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..checks.program import Program
from ..shared.masking import masked_arguments
from ..shared.untrusted import printable

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def noted_to_run_again(program: Program, folder: Path) -> dict[str, Any]:
    """The arguments, None where one of them is a secret, and the mark."""
    arguments = list(program.arguments)
    is_whole = masked_arguments(arguments) == arguments and all(printable(a) == a for a in arguments)
    return {
        "arguments": arguments if is_whole else None,
        "is_python": program.is_python,
        "mark": mark_of(folder),
    }


def mark_of(folder: Path) -> str | None:
    """The mark of a folder that is this user's; None where it is not, or the boot has no id."""
    try:
        boot, place = _BOOT_ID.read_text(encoding="ascii").strip(), os.stat(folder)
    except (OSError, UnicodeDecodeError):
        return None
    if place.st_uid != os.getuid():
        return None
    return sha256(f"{boot}:{os.getuid()}:{place.st_dev}:{place.st_ino}".encode()).hexdigest()

"""Put the exported programs of a run where the user wants them."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..shared.errors import CannotRecord, NothingExported
from ..shared.names import EXPORT_FOLDER
from .modules import ModuleExport


def save_exported(
    modules: Sequence[ModuleExport], recording: Path, target: Path, *, packages: bool
) -> list[Path]:
    """Copy them to `target`, a file; several into a folder that has its name without the ending.

    The files are those that this run has just written. NothingExported or CannotRecord.
    """
    named = {module: module.package if packages else module.file for module in modules}
    found = {module: recording / EXPORT_FOLDER / Path(file).name for module, file in named.items() if file}
    if not found:
        what = "package was made" if packages else "module exports"
        raise NothingExported(f"no {what}, so that nothing is written to {target}")
    try:
        if len(found) == 1:
            target.parent.mkdir(parents=True, exist_ok=True)
            return [Path(shutil.copyfile(file, target)) for file in found.values()]
        folder = target.with_suffix("")
        folder.mkdir(parents=True, exist_ok=True)
        return [
            Path(shutil.copyfile(file, folder / f"{_file_name(module.name)}{target.suffix}"))
            for module, file in found.items()
        ]
    except OSError as error:
        raise CannotRecord(f"cannot write {target}: {error.strerror}") from error


def _file_name(name: str) -> str:
    """`Linear_2` for `Linear (2)`."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._-") or "module"

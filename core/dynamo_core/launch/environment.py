"""The environment in which the program starts: its own, with the engine's start-up code in front."""

import os
from collections.abc import Mapping
from pathlib import Path

from ..shared.settings import Settings

BOOTSTRAP_FOLDER = Path(__file__).resolve().parent.parent / "capture" / "bootstrap"


def environment_for(settings: Settings, inherited: Mapping[str, str]) -> dict[str, str]:
    """`inherited` plus the settings and the bootstrap folder, which stays there for child processes."""
    path = inherited.get("PYTHONPATH", "")
    entries = [entry for entry in path.split(os.pathsep) if entry != str(BOOTSTRAP_FOLDER)]
    rest = os.pathsep.join(entries)  # an empty entry means the working directory: keep it as it is
    python_path = str(BOOTSTRAP_FOLDER) + (os.pathsep + rest if rest else "")
    return {**inherited, **settings.to_environment(), "PYTHONPATH": python_path}

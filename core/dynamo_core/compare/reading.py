"""Two recordings as they are to be compared: read once, and once more for the nodes of graphs that differ."""

from pathlib import Path

from ..model import Recording
from ..recording.read import read
from . import CONTENTS, nodes_wanted, with_nodes


def read_both(before: Path, after: Path) -> tuple[Recording, Recording]:
    """Both of them; what cannot be read raises as for any report."""
    recordings = read(before, CONTENTS), read(after, CONTENTS)
    wanted = nodes_wanted(*recordings)
    was, now = (
        with_nodes(recording, read(path, contents)) if contents else recording
        for path, recording, contents in zip((before, after), recordings, wanted, strict=True)
    )
    return was, now

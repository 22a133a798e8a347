"""Which backend took a graph, or why none did, in a few words."""

import os

from ..model import Graph, Process, Recording
from .words import compile_label, first_line, graph_frame, place, process_title


def untaken_sentence(graph: Graph, process: Process, recording: Recording) -> str:
    """A graph that no backend took: which it is, what became of it, and each backend's reason."""
    outcome = "it runs eager" if graph.is_compiled else "an error with --strict"
    return (
        f"no backend took graph {graph.number} {compile_label(graph.compile_id)} "
        f"{graph_frame(graph)} at {place(graph.frame_place)}{process_title(process, recording)}, "
        f"{outcome}: {declined_because(graph)}"
    )


def declined_because(graph: Graph) -> str:
    """Each backend that was asked for the graph, and its reason."""
    declined = graph.assigned_backend.declined if graph.assigned_backend is not None else ()
    return "; ".join(f"{short_backend(backend)}: {first_line(reason)}" for backend, reason in declined)


def short_backend(backend: str) -> str:
    """A backend in a file without the file's folder."""
    """A backend file without its folder."""
    place_, colon, _ = backend.rpartition(":")
    return os.path.basename(backend) if colon and place_.endswith(".py") else backend

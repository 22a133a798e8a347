"""The graph that a thread is handing to its backend: who is asked about it need not describe it again."""

import threading


class GraphInProgress(threading.local):
    """Its number in this process and its key (`graph_key.py`); None between graphs."""

    number: int | None = None
    key: str | None = None


graph_in_progress = GraphInProgress()

"""Measures one backend on one graph at a time, in a process of its own.

It runs in the program's Python, as the capture engine does: it needs the standard library and torch alone,
and no installed dynamo. Who asks is `dynamo_core.bench.autotune`.
"""

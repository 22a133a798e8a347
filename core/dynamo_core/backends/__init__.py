"""Backends in the program's process: chains, `ofi`, `autotuned`; what `dynamo backends` asks; measuring one.

Needs the standard library and torch alone, like the capture engine, which puts it to work. Modules of torch
are imported when they are used.
"""

"""What can stand between Dynamo and the backends, in the program's process: chains, `ofi`, `autotuned`.

Needs the standard library and torch alone, like the capture engine, which puts it to work. Modules of torch
are imported when they are used.
"""

"""Questions about backends, answered where the program's torch is: a process of its own that imports it.

Needs the standard library and torch alone. `checks/inquiry.py` asks.
"""

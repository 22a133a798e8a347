"""Which backend won for which graph, under which conditions: `autotune` writes it, `autotuned` goes by it.

Read in the program's process too, and needs the standard library alone.
"""

"""Which backend is the best for each graph: measured, stored, and found again.

`winners.py` is read in the program's process too, and needs the standard library alone.
"""

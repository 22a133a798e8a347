"""Stands for the reader's program in the documentation's examples; without torch, so that it is quick."""

print("trained")

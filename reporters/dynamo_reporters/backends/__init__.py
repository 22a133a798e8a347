"""Backends: which took each graph, and which there are."""

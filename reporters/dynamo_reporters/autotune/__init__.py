"""The best backend for each graph: what was measured, and what it would gain."""

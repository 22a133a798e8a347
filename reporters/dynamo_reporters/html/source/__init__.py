"""The user's own lines, and what became of each."""

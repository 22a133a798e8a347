"""What to do about a graph break or a recompile: tables of rules, the surest advice first."""

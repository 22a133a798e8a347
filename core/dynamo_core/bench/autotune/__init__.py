"""Which backend is the best for each graph: measured in turn, and decided."""

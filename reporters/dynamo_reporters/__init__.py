"""From the model to what a person or a program reads. Pure functions; no torch, no files."""

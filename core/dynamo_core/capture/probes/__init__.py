"""What of torch is watched: one module a subject."""

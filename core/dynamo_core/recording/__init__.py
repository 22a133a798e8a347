"""Recordings on disk: where they lie, and reading them back into the model."""

"""Recordings on disk: finding and creating them, and reading them into the model."""

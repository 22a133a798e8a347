"""A bundle to attach to an issue: a recording in one file, on request without the user's source."""

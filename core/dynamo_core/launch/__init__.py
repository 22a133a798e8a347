"""Check what is asked for, start the user's program with the engine injected, wait, and end as it ended."""

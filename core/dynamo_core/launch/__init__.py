"""Start the user's program with the engine injected, wait for it, and end as it ended."""

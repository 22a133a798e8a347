"""Run the user's program with the engine injected: check the request, start, wait, and end as it ended."""

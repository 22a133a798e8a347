"""`dynamo cache`: what torch's caches were worth in a run, and why a warm start was cold."""

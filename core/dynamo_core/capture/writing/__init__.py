"""What the engine writes: the stream of records, and the counts in a mapped file."""

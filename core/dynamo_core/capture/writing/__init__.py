"""Writing a recording: the stream of records, the counters in a mapped file, and the files beside them."""

"""`dynamo export`: wait for a run's trials; say which modules export, and what is in the way."""

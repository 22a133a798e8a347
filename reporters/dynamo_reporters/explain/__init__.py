"""`dynamo explain`, and what else sums up a run."""

"""`dynamo diff`: what differs between two runs."""

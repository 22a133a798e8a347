"""`dynamo ranks`: the ranks of a distributed run beside each other."""

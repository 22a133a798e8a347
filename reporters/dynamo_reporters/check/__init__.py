"""`dynamo check`: what got worse, for people, for CI and for programs."""

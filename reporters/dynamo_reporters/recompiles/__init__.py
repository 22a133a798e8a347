"""`dynamo recompiles`: what was compiled again, why, and what to do about it."""

"""`dynamo fix`: what was tried, and what is proven to cure."""

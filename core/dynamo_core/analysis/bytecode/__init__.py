"""What Dynamo's rewritten bytecode does, and how the functions that resume a frame hang together."""

"""`dynamo bytecode`: each frame before and after Dynamo."""

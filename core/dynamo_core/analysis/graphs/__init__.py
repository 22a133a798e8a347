"""What the nodes of a graph say, and a program that runs the graph."""

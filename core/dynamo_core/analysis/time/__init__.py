"""Where the time went: of a process, a compile, a graph, a step."""

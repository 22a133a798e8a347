"""Time figures: of a process, of its compiles and their phases, of the calls of a graph, of a step."""

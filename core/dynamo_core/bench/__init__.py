"""Run programs under several backends in turn and compare them: `bench`, suites, `autotune`, on Ray too."""

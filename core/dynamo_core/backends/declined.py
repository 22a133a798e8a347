"""How a backend of ours says that it does not take a graph."""


class Declined(Exception):
    """Why, in words that follow the backend's name."""

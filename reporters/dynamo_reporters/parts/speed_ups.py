"""Speed-ups and their intervals as text."""


def factor(value: float) -> str:
    """Two rounds that differ a little have bounds beyond anything that a speed-up can be."""
    return "> 100" if value > 100 else "< 0.01" if value < 0.01 else f"{value:.2f}"


def interval(low: float, high: float) -> str:
    """From, to."""
    return f"{factor(low)} to {factor(high)}"

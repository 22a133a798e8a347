"""Lines about tracks."""

from meter import Measured


def line(name: str, measured: Measured) -> str:
    """One track on a line."""
    return (
        f"{name}: {float(measured.loudness):.2f} dB, range {float(measured.range):.2f} dB, "
        f"peak {float(measured.peak):.3f}"
    )


def loudest(measured: dict[str, Measured]) -> str:
    """The name of the loudest track."""
    return max(measured, key=lambda name: float(measured[name].loudness))

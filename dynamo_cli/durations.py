"""Times as they are typed: 90, 90s, 10m or 1h."""

import re

import click

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    """A time in seconds; a usage error for what is none, or is 0."""
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)([smh]?)", str(value))
    time = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not time:
        raise click.BadParameter(f"{value!r} is no time: 90s, 10m or 1h")
    return time

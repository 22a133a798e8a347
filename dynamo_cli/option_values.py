"""Values of options as the settings have them; each function is a callback of click's."""

import click


def share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A percentage, with its sign or without, as a share; a usage error for what is none up to 100."""
    if value is None:
        return None
    try:
        share = float(value.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise click.BadParameter(f"{value!r} is no percentage above 0 and up to 100, such as 20%")
    return share


def none_for_zero(ctx: click.Context, parameter: click.Parameter, value: float) -> float | None:
    """The number; None for 0, which switches a limit off."""
    return value or None

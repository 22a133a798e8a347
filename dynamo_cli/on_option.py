"""`--on ray`: where else to measure."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import documented_option

if TYPE_CHECKING:
    from dynamo_core.bench.ray_cluster import RayCluster


def on_option(what: str) -> Callable[[Any], Any]:
    """The option; `what` is a task of its own there."""
    return documented_option(
        "--on",
        envvar="DYNAMO_ON",
        metavar="ray[:ADDRESS]",
        callback=_checked,
        help=f"Measure {what} on a machine of a Ray cluster: the one at ADDRESS, else at RAY_ADDRESS, else "
        "one that is started here.",
    )


def cluster(on: str, folder: Path | None, not_sent: Sequence[str] = ()) -> "RayCluster":
    """The cluster that `--on` names; `folder` is sent to its machines, without what `not_sent` names."""
    from dynamo_core.bench.ray_cluster import RayCluster, address_of

    return RayCluster(address_of(on), folder, not_sent)


def _checked(ctx: click.Context, parameter: click.Parameter, on: str | None) -> str | None:
    """Before anything runs; ClusterProblem where there is no Ray."""
    if on is None or ctx.resilient_parsing:
        return on
    from dynamo_core.bench.ray_cluster import address_of, check_installed

    try:
        address_of(on)
    except ValueError as error:
        raise click.UsageError(f"--on: {error}") from error
    check_installed()
    return on

"""`--on ray`: where else to measure."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .run_options import documented_option

if TYPE_CHECKING:
    from dynamo_core.cluster.ray_cluster import RayCluster


def on_option(what: str) -> Callable[[Any], Any]:
    """The option; `what` is a task of its own there."""
    return documented_option(
        "--on",
        envvar="DYNAMO_ON",
        metavar="ray[:ADDRESS]",
        help=f"Measure {what} on a machine of a Ray cluster: the one at ADDRESS, else at RAY_ADDRESS, else "
        "one that is started here.",
    )


def cluster(on: str, folder: Path | None) -> "RayCluster":
    """The cluster that `--on` names; `folder` is sent to its machines."""
    from dynamo_core.cluster.ray_cluster import RayCluster, address_of

    try:
        return RayCluster(address_of(on), folder)
    except ValueError as error:
        raise click.UsageError(f"--on: {error}") from error

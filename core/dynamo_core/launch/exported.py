"""The environment of an observed process as text, for launchers of other programs (`dynamo env`)."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

from .. import __version__
from ..recording.files import is_recording
from ..recording.remote import check_url, is_url
from ..shared.errors import CannotRecord
from ..shared.launchers import JOB_IN_PATH
from ..shared.settings import Settings
from .run import BOOTSTRAP_FOLDER, Request, checked, environment_for

_PACKAGE = BOOTSTRAP_FOLDER.parent.parent
_MOUNTED_AT = "/opt/dynamo_core"  # in a container


def settings_for_processes(request: Request, wanted: str, *, is_here: bool) -> Settings:
    """The settings for processes that no `dynamo run` starts, to record to the folder or URL `wanted`.

    If they run on this machine (`is_here`), they are checked now, as an error could not be shown later;
    DynamoError says what is wrong.
    """
    url = wanted if is_url(wanted) else None
    # A recording that is uploaded is first written to a folder here, which no other run uses.
    spool = f"/tmp/dynamo-carried-{os.urandom(6).hex()}/{JOB_IN_PATH}"
    place = os.path.abspath(wanted) if url is None else spool
    if not (place + wanted).isprintable():
        raise CannotRecord(f"cannot record to {wanted!r}: there are control characters in it")
    if is_here:
        if url is not None:
            check_url(url)
        _check_place(Path(place.partition(JOB_IN_PATH)[0]), has_subfolders=JOB_IN_PATH in place)
        request = checked(request)
    return request.settings._replace(recording=place, makes_folder=True, carried_to=url)


def _check_place(place: Path, *, has_subfolders: bool) -> None:
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    if not there.is_dir():
        raise CannotRecord(f"cannot record to {place}: {there} is no folder")
    if not os.access(there, os.W_OK):
        raise CannotRecord(f"cannot record to {place}: {there} cannot be written to")
    if there == place and not has_subfolders and any(place.iterdir()) and not is_recording(place):
        raise CannotRecord(f"{place} is not empty, and no recording; choose another -o")


def environment_text(settings: Settings, form: str, installed_at: str | None = None) -> tuple[str, list[str]]:
    """The environment as text in a form such as "shell", and notes on what else is necessary."""
    package = installed_at or (_MOUNTED_AT if form == "docker" else str(_PACKAGE))
    bootstrap = package.rstrip("/") + "/" + str(BOOTSTRAP_FOLDER.relative_to(_PACKAGE))
    variables = settings.to_environment()
    notes = []
    if form in ("shell", "slurm"):
        lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
        lines.append(f'export PYTHONPATH={shlex.quote(bootstrap)}"${{PYTHONPATH:+:$PYTHONPATH}}"')
        text = "\n".join(lines)
    elif form == "json" and installed_at is None:
        inherited = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        text = json.dumps(environment_for(settings, inherited), indent=2)
    else:
        variables["PYTHONPATH"] = bootstrap
        text = _FORMATS[form](variables)
        if form != "json":
            notes.append("PYTHONPATH is set to this alone: add what the job needs in it")
    if form == "docker" and installed_at is None:
        mounts = [f"--volume {shlex.quote(f'{_PACKAGE}:{package}:ro')}"]
        folder = settings.recording.partition(JOB_IN_PATH)[0].rstrip("/") or "/"
        mounts.append(f"--volume {shlex.quote(f'{folder}:{folder}')}")
        notes.append(f"give these to docker run as well: {' '.join(mounts)}")
    elif form in ("k8s", "slurm", "ray") or installed_at is not None:
        notes.append(
            f"each host must have dynamo-cli {__version__} with its package at {package} (pip install "
            f"--no-deps --target {os.path.dirname(package.rstrip('/'))} dynamo-cli=={__version__}; "
            f"--installed-at names another place), and {settings.recording} must be one folder for all"
        )
    return text, notes


def _kubernetes(variables: dict[str, str]) -> str:
    """The `env` of a container. JSON strings are valid YAML; `$(…)` is escaped, as it would be expanded."""
    rows = [
        f"  - name: {name}\n    value: {json.dumps(value.replace('$(', '$$('))}"
        for name, value in variables.items()
    ]
    return "\n".join(["env:", *rows])


_FORMATS: dict[str, Callable[[dict[str, str]], str]] = {
    # A file for `docker run --env-file`: the rest of a line is the value, without quotes.
    "docker": lambda variables: "\n".join(f"{name}={value}" for name, value in variables.items()),
    "k8s": _kubernetes,
    # A runtime_env. Ray would expand `${…}`, but our values have none.
    "ray": lambda variables: json.dumps({"env_vars": variables}, indent=2),
    "json": lambda variables: json.dumps(variables, indent=2),
}

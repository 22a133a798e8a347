"""What pytest loads at each start, asked for or not: the options, the marker, the fixture.

Everything else is imported where --dynamo asks for it; without it, nothing happens but that the marker is
known.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .each_test import Recorder
    from .outcome import Compiled

MARKER = (
    "dynamo(max_breaks=N, max_recompiles=N, max_graphs=N, max_frames_run_eager=N, fullgraph=True, "
    "allow=[identities], reset=True): what torch.compile may make of the test; looked at by pytest --dynamo."
)
_RECORDER = pytest.StashKey["Recorder"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("dynamo", "what torch.compile makes of each test")
    group.addoption(
        "--dynamo",
        action="store_true",
        help="Fail tests that compile worse than @pytest.mark.dynamo(…), or [tool.dynamo.check] of "
        "pyproject.toml, says.",
    )
    group.addoption(
        "--dynamo-lock",
        metavar="FILE",
        help="Fail tests that compile worse than this lock file says, as `dynamo check` does.",
    )
    group.addoption(
        "--dynamo-update",
        action="store_true",
        help="Accept what is there now: write the tests that ran and passed to the lock file "
        "(dynamo.lock beside the configuration, if --dynamo-lock names no other).",
    )
    group.addoption(
        "--dynamo-exact",
        action="store_true",
        help="Fail, too, tests that compile better than the lock file says, and where one is not in it.",
    )
    group.addoption(
        "--dynamo-verify",
        action="store_true",
        help="Fail tests in which something compiled gives something else than plain Python.",
    )


def _is_asked_for(options: Any) -> bool:
    names = ("dynamo", "dynamo_lock", "dynamo_update", "dynamo_exact", "dynamo_verify")
    return any(getattr(options, name) for name in names)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before a conftest.py imports torch."""
    if _is_asked_for(early_config.known_args_namespace):
        _recorder(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known in any case; the rest is done where it is asked for."""
    config.addinivalue_line("markers", MARKER)
    if _is_asked_for(config.option):
        from dynamo_core.shared.shown_paths import show_paths_from

        from .each_test import look_at_tests

        show_paths_from(str(config.invocation_params.dir))

        look_at_tests(config, _recorder(config))


@pytest.fixture
def dynamo(request: pytest.FixtureRequest) -> "Compiled":
    """What torch.compile has made of this test so far: findings, counts, graphs (needs --dynamo)."""
    recorder = request.config.stash.get(_RECORDER, None)
    if recorder is None:
        pytest.skip("it looks at what is compiled: needs pytest --dynamo")
    return recorder.compiled


def _recorder(config: pytest.Config) -> "Recorder":
    """What records this process; made when it is first asked for."""
    recorder = config.stash.get(_RECORDER, None)
    if recorder is None:
        from .each_test import recorder_of_this_process

        verifies = config.known_args_namespace.dynamo_verify
        recorder = config.stash[_RECORDER] = recorder_of_this_process(verifies=verifies)
    return recorder

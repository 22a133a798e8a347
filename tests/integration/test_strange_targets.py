"""Opening a file runs nothing, follows nothing and waits for nothing; nothing is written elsewhere."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from test_damaged_recordings import TRACE, record

from dynamo_cli import running
from dynamo_cli.main import dynamo
from dynamo_core.launch.run import Request
from dynamo_core.recording import files
from dynamo_core.shared import names
from dynamo_core.shared.errors import CannotRecord, DamagedRecording, DynamoError, NoRecording, NotARecording
from support.answering import Result
from support.cases import one_in

SECRET = "BEGIN OPENSSH PRIVATE KEY"
STREAM = f"{names.STREAM_PREFIX}1{names.STREAM_SUFFIX}"
RUN = {
    "command": ["python", "train.py"],
    "notes": [],
    "started": "2026-01-01T00:00:00+0000",
    "started_ns": 1,
    "ended_ns": 2,
    "exit_code": 0,
    "signal": None,
}


def answer(*arguments: str | Path) -> Result:
    """What a command says, in this process; an error of ours is its line and its exit code."""
    result = CliRunner().invoke(dynamo, [str(argument) for argument in arguments], standalone_mode=False)
    if isinstance(result.exception, DynamoError):
        return Result(result.exception.exit_code, result.stdout, str(result.exception))
    if result.exception is not None:
        raise result.exception
    return Result(0, result.stdout, result.stderr)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_recording(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True)
    start = {"torch": "2.13.0", "pid": 1, "calls_file": "dynamo_calls_1.bin"}
    first = record({"artifact": {"name": names.PROCESS_START, "encoding": "json"}}, json.dumps(start))
    (folder / STREAM).write_bytes(first + TRACE)
    files.write_run_file(folder, RUN | changes)
    return folder


RAN = "open('ran', 'w')"


def _file(name: str) -> Callable[[], str]:
    def make() -> str:
        Path(name).write_text(RAN)
        return name

    return make


def _archive(name: str) -> Callable[[], str]:
    def make() -> str:
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("__main__.py", RAN)
        return name

    return make


def _folder(name: str) -> Callable[[], str]:
    def make() -> str:
        Path(name).mkdir()
        (Path(name) / "__main__.py").write_text(RAN)
        return name

    return make


TARGETS = [
    *(_archive(name) for name in ("a.zip", "a.pyz", "a.whl", "a.egg", "a.log", "a", "a.bin")),
    *(_file(name) for name in ("a.txt", "a.pyw", "a.pyc", "a.foo", "noext", "a.py.log", "a.PY", "a.sh")),
    *(_folder(name) for name in ("folder", "folder.py", "folder.zip")),
    lambda: "-",
]


@pytest.mark.parametrize("make", TARGETS)
@pytest.mark.parametrize("command", ["explain", "autotune"])
def test_what_a_target_holds_is_not_run(command: str, make: Callable[[], str]) -> None:
    target = make()
    result = answer(command, target, "--format", "json")
    assert result.exit_code == NotARecording.exit_code
    if "dynamo run" in result.stderr:
        assert answer(command, target, "--epochs", "3").exit_code == NotARecording.exit_code
    assert not Path("ran").exists()
    assert target.endswith((".log", ".txt", ".bin")) or f"dynamo run {target}, then" in result.stderr


@pytest.mark.parametrize(
    "target", [["a.py"], ["-m", "a"], ["-c", RAN], ["--", "true"], ["./a.py", "--format", "x"]]
)
def test_a_program_is_named_as_one(target: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _file("a.py")()
    asked: list[Request] = []

    class Asked(DynamoError):
        pass

    def run_program(request: Request, *, quiet: bool) -> None:
        asked.append(request)
        raise Asked

    monkeypatch.setattr(running, "run_program", run_program)
    answer("explain", *target)
    assert asked


CALLS = f"{names.CALLS_PREFIX}1{names.CALLS_SUFFIX}"
FAILED = f"{names.ENGINE_FAILURE_PREFIX}1.txt"
BESIDE = [
    names.RUN_FILE,
    names.PYTHON_PROCESSES_FILE,
    FAILED,
    CALLS,
    STREAM,
    f"{names.STREAM_PREFIX}2.log",
    "x.log",
]


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("to", ["key", "folder", "pipe", "nowhere"])
@pytest.mark.parametrize("report", ["explain", "ls"])
def test_a_link_in_a_recording_is_not_followed(report: str, to: str, name: str, here: Path) -> None:
    (here / "key").write_text(SECRET)
    (here / "folder").mkdir()
    os.mkfifo(here / "pipe")
    recording = make_recording(here / "all" / "rec")
    (recording / name).unlink(missing_ok=True)
    (recording / name).symlink_to(here / to)
    result = answer("ls", here / "all") if report == "ls" else answer(report, "--all", recording)
    assert SECRET not in result.stdout + result.stderr
    if name == names.RUN_FILE and report == "explain":
        assert (result.exit_code, "symbolic link" in result.stderr) == (DamagedRecording.exit_code, True)
    if name == FAILED and report == "explain":
        assert f"{FAILED} cannot be read: it is a symbolic link" in result.stdout


def test_a_profile_that_is_a_link_is_not_read(here: Path) -> None:
    recording = make_recording(here / "rec")
    name = f"{names.PROFILE_PREFIX}1_times_5{names.PROFILE_SUFFIX}"
    window = {"kind": "times", "file": name, "error": None, "own_ns": 1, "warm_up_steps": 1}
    artifact = {"artifact": {"name": names.PROFILE_WINDOW, "encoding": "json"}}
    with (recording / STREAM).open("ab") as stream:
        stream.write(record(artifact, json.dumps(window)))
    os.mkfifo(here / "pipe")
    (recording / name).symlink_to(here / "pipe")
    assert "cannot be read: it is not there" in answer("profile", recording).stdout


def test_a_link_that_the_user_names_is_followed(here: Path) -> None:
    recording = make_recording(here / "rec")
    (here / "latest").symlink_to(recording)
    (here / "stream.log").symlink_to(recording / STREAM)
    for target in ("latest", "stream.log"):
        assert "torch 2.13.0" in answer("explain", target).stdout


def test_small_files_have_small_bounds(here: Path) -> None:
    recording = make_recording(here / "rec")
    for name in (FAILED, names.PYTHON_PROCESSES_FILE):
        with (recording / name).open("wb") as file:
            file.truncate(1 << 40)
    assert (
        f"{FAILED} cannot be read: it is larger than such a file ever is"
        in answer("explain", "--all", recording).stdout
    )
    with (recording / names.RUN_FILE).open("ab") as file:
        file.truncate(1 << 40)
    assert answer("explain", recording).exit_code == DamagedRecording.exit_code


def test_a_path_is_printed_and_not_obeyed(here: Path) -> None:
    recording = make_recording(here / "\x1b[31m\u202e[x](http:evil)\n| a")
    for form in ("text", "markdown"):
        told = answer("explain", "--all", "--format", form, recording).stdout
        assert "\x1b" not in told and "\u202e" not in told
        assert "\\x1b" in told.replace("\\\\", "\\")
    assert "\x1b" not in answer("ls", here).stdout


def linked(path: Path, to: Path) -> Path:
    to.write_text("precious")
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(to)
    return to


def test_nothing_is_written_through_a_link(here: Path) -> None:
    recording = make_recording(here / "rec")
    report = linked(here / "report.md", here / "precious1")
    result = answer("explain", recording, "-o", "report.md")
    assert (result.exit_code, "symbolic link" in result.stderr) == (CannotRecord.exit_code, True)
    graphs = json.dumps({"graph": 1, "name": "f", "backend": "eager", "ops": 1})[:-1] + ',\n"nodes": []}'
    with (recording / STREAM).open("ab") as stream:
        artifact = {"artifact": {"name": names.FX_GRAPH, "encoding": "json"}, "frame_id": 0}
        stream.write(record({**artifact, "frame_compile_id": 0}, graphs))
    assert answer("graphs", recording, "--save", "saved").exit_code == 0
    (name, *_) = sorted(os.listdir("saved"))
    (here / "saved" / name).unlink()
    saved = linked(here / "saved" / name, here / "precious2")
    assert answer("graphs", recording, "--save", "saved").exit_code == 0
    assert not (here / "saved" / name).is_symlink()
    ignore = linked(here / ".dynamo" / ".gitignore", here / "precious3")
    files.create(None, "program", replace=False).release()
    assert [path.read_text() for path in (report, saved, ignore)] == ["precious"] * 3


def test_gitignore_is_not_written_through_a_dead_link(here: Path) -> None:
    (here / ".dynamo").mkdir()
    (here / ".dynamo" / ".gitignore").symlink_to(here / "nowhere")
    files.create(None, "program", replace=False).release()
    assert not (here / "nowhere").exists()


def test_output_may_be_a_device(here: Path) -> None:
    recording = make_recording(here / "rec")
    assert answer("explain", recording, "-o", "/dev/null").exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_recording_in_use_is_not_replaced(here: Path) -> None:
    new = files.create(here / "rec", "program", replace=False)
    files.write_run_file(new.folder, RUN | {"launcher_pid": 4711})
    with pytest.raises(CannotRecord, match="in use by pid 4711"):
        files.create(here / "rec", "program", replace=True)
    assert files.is_in_use(new.folder)
    assert (new.folder / names.RUN_FILE).exists()
    new.release()
    assert not files.is_in_use(new.folder)
    files.create(here / "rec", "program", replace=True).release()


def test_a_program_that_outlives_its_launcher_is_using_its_recording(here: Path) -> None:
    new = files.create(here / "rec", "program", replace=False)
    files.write_run_file(new.folder, RUN)
    new.release()
    environment = os.environ | {names.RECORDING_VARIABLE: str(new.folder)}
    program = "import time; print('running', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE) as child:
        try:
            assert (
                child.stdout and child.stdout.readline()
            )  # before its exec has ended, /proc shows no environment
            (new.folder / names.PYTHON_PROCESSES_FILE).write_text(f"{child.pid} 1\n{os.getpid()} 1\n")
            with pytest.raises(CannotRecord, match=f"in use by pid {child.pid}"):
                files.create(here / "rec", "program", replace=True)
        finally:
            child.kill()
    files.create(here / "rec", "program", replace=True).release()


def test_the_hint_names_the_recording_where_another_could_be_meant(here: Path) -> None:
    first = make_recording(here / ".dynamo" / "first", started_ns=1)
    assert files.is_surely_newest(first)
    second = make_recording(here / ".dynamo" / "second", started_ns=2)
    assert not files.is_surely_newest(first)
    assert files.is_surely_newest(second)
    claim = files.claim(first, None)
    assert not files.is_surely_newest(second)
    os.close(claim)


@pytest.fixture
def of_another_user() -> Iterator[Path]:
    """A folder with a recording that this user can read and a newer one that it cannot."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        make_recording(folder / "ours", started_ns=1).chmod(0o755)
        theirs = [folder / "theirs", folder / "ours" / "more" / "theirs"]
        for recording in theirs:
            make_recording(recording, started_ns=2).chmod(0o000)
        for file in (folder / "ours").iterdir():
            file.chmod(0o755)
        before = os.geteuid()
        if before == 0:
            os.seteuid(65534)
        yield folder
        os.seteuid(before)
        for recording in theirs:
            recording.chmod(0o755)


def test_somebody_elses_recording_is_told_in_a_word(
    of_another_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = answer("ls", of_another_user)
    assert listing.exit_code == 0
    (theirs,) = [line for line in listing.stdout.splitlines() if "theirs" in line]
    assert "cannot be read" in theirs and "Permission denied" in theirs
    assert answer("explain", of_another_user / "theirs").exit_code == DamagedRecording.exit_code
    monkeypatch.setattr(files.newest, "__defaults__", (of_another_user,))
    assert "torch 2.13.0" in answer("explain").stdout
    with pytest.raises(NoRecording, match=r"can be read: cannot read .*theirs.*: Permission denied"):
        files.newest(of_another_user / "ours" / "more")


PROGRAM = """
import os, torch
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
for path, folders, found in os.walk("rec"):
    print(*sorted({oct(os.stat(os.path.join(path, name)).st_mode & 0o777) for name in found}))
"""


@pytest.mark.parametrize("umask", one_in(2, [0o000, 0o277]))
def test_a_recording_is_for_its_owner_only_and_holds_no_secret(
    umask: int, environment: dict[str, str], here: Path
) -> None:
    secrets = {
        "TORCH_HUB_TOKEN": "s3cr3t-1",
        "DYNAMO_DB": "postgres://u:s3cr3t-2@h/d",
        "OMP_NUM_THREADS": "1",
    }
    script = here / "program.py"
    script.write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "dynamo_cli",
        "run",
        "-q",
        "-o",
        "rec",
        script,
        "--api-token",
        "s3cr3t-3",
    ]
    done = subprocess.run(
        command,
        env=environment | secrets,
        umask=umask,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == "0o400 0o600\n"  # the counters, while they are mapped, and the rest
    recording = here / "rec"
    assert stat.S_IMODE(recording.stat().st_mode) == 0o700
    contents = {file: file.read_bytes() for file in recording.iterdir()}
    assert {stat.S_IMODE(file.stat().st_mode) for file in contents} == {0o600}
    assert len(contents) == 4
    assert not any(b"s3cr3t" in content for content in contents.values())
    assert json.loads(contents[recording / names.RUN_FILE])["command"][-2:] == ["--api-token", "***"]
    assert any(b'"OMP_NUM_THREADS": "1"' in content for content in contents.values())


@pytest.mark.parametrize(
    ("redirection", "exit_code", "says"),
    [
        (">/dev/full", 120, "dynamo: cannot write to stdout: No space left on device\n"),
        (">&-", 120, "dynamo: stdout is closed, so nobody would see the report; name a file with -o\n"),
        ("| true", 141, ""),
    ],
)
def test_a_stdout_that_takes_nothing(
    redirection: str, exit_code: int, says: str, environment: dict[str, str], here: Path
) -> None:
    make_recording(here / ".dynamo" / "rec")
    line = f'"{sys.executable}" -m dynamo_cli ls {redirection}; echo ${{PIPESTATUS[0]}} >&2'
    done = subprocess.run(
        ["bash", "-c", line], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == f"{says}{exit_code}\n"


def test_a_closed_stderr_leaves_stdout_to_the_program(environment: dict[str, str], here: Path) -> None:
    line = f'"{sys.executable}" -m dynamo_cli run -c "print(1)" 2>&-'
    done = subprocess.run(
        ["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "1\n"

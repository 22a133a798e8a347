"""`dynamo run -q program` is `python program`: the same exit code, stdout and stderr, and a recording."""

import functools
import os
import shutil
import signal
import stat
import sys
import venv
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from running import (
    PROGRAMS,
    Outcome,
    Situation,
    assert_equal,
    assert_same_as_python,
    check_recording,
    outcomes,
    send,
    send_to_group,
    situations_of,
)
from support.cases import ALL_CASES, nightly, one_in
from support.torch_version import TORCH as TORCH_VERSION

BASE_PYTHON = str(Path(sys._base_executable).resolve())  # without torch, but with usercustomize
TORCH = {"PROGRAM_IMPORTS_TORCH": "1"}

# One process for each situation, and once more with torch where hooks that come with it could matter.
# What importing torch would take too long for is also in TOGETHER.
ALONE_WITH_TORCH = {
    "endings.py": ("too_deep", "keyboard_interrupt", "segfault", "exit_at_once_with_7", "uncaught"),
    "forks.py": ("child_fails", "fork_in_a_thread"),
    "pools.py": ("spawn_pool", "fork_pool"),
    "children.py": ("become_python",),
    "threads.py": ("pickles_after_main",),
    "at_exit.py": ("fails", "exits", "runs_early", "arguments_deleted", "stdout_closed"),
    "interpreter.py": (),
}


def one_by_one() -> list[Situation]:
    """Programs without torch, one process each; some of them once more with torch."""
    found = []
    for file, with_torch in ALONE_WITH_TORCH.items():
        stem = file.removesuffix(".py")
        for name in situations_of(file):
            stdin = b"one\ntwo\nthree" if name == "standard_input" else b""
            found.append(Situation(f"{stem}-{name}", (file, name), stdin=stdin))
            if name in with_torch:
                found.append(Situation(f"{stem}-{name}-torch", (file, name), environment=TORCH))
    return found


def signals() -> list[Situation]:
    """Signals from outside, to the process that the user started or to its whole group."""

    def situation(
        name: str, number: signal.Signals, *, group: bool = False, torch: bool = False
    ) -> Situation:
        return Situation(
            f"{name}-{number.name}" + "-to-the-group" * group + "-torch" * torch,
            ("signalled.py", name, number.name),
            disturbance=send_to_group(number) if group else send(number),
            new_session=group,
            environment=TORCH if torch else {},
        )

    term, hup, interrupt = signal.SIGTERM, signal.SIGHUP, signal.SIGINT
    usr1, usr2, quit_ = signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT
    found = [situation("no_handler", number) for number in (term, hup, usr1, usr2, interrupt, quit_)]
    found += [situation("cleanup", number) for number in (term, interrupt)]
    for name in ("handler_that_exits", "handler_that_counts"):
        found += [situation(name, number) for number in (term, hup, usr1, interrupt)]
    found += [situation("ignored", term), situation("reset_in_handler", term)]
    # To the group only where the first one ends the program: it comes twice, as the README says.
    found += [situation("no_handler", number, group=True) for number in (hup, term)]
    found += [situation("no_handler", number, torch=True) for number in (term, interrupt)]
    found += [situation("cleanup", number, torch=True) for number in (term, interrupt)]
    found += [situation("handler_that_counts", number, torch=True) for number in (term, interrupt)]
    found += [situation("reset_in_handler", term, torch=True)]
    return found


def forms() -> list[Situation]:
    """The forms in which a program can be named, and what it sees of them."""

    def see(name: str, *program: str, **more: object) -> Situation:
        return Situation(f"seen-{name}", program, **more)  # type: ignore[arg-type]

    script = "surroundings.py"
    code = (PROGRAMS / script).read_bytes()
    path = str(PROGRAMS / script)
    elsewhere = PROGRAMS.parent
    show_path = "import sys; print(sys.path, sys.argv, sys.orig_argv)"
    return [
        see("relative", script, "-x", "--option", "--", "-q", "", "two words"),
        see("dot", f"./{script}"),
        see("absolute", path),
        see("other-folder", f"programs/../programs/{script}", cwd=elsewhere),
        see("torch", script, environment=TORCH),
        see("module", "-m", "surroundings", "an argument"),
        see("module-in-package", "-m", "programs.surroundings", cwd=elsewhere),
        see("module-attached", "-msurroundings"),
        see("module-missing", "-m", "no_such_module"),
        see("module-that-fails", "-m", "fails_on_import"),
        see("module-of-python", "-m", "json.tool", stdin=b'{"a": 1}'),
        see("module-reads-bad-input", "-m", "json.tool", stdin=b"{"),
        see("code", "-c", show_path, "-c", "-m", "argument"),
        see("code-attached", f"-c{show_path}"),
        see("code-that-fails", "-c", "import sys\nprint(sys.argv)\n1/0"),
        see("code-with-bad-syntax", "-c", "print(("),
        see("stdin", "-", "an argument", stdin=b"__file__ = None\n" + code),
        see("stdin-that-fails", "-", stdin=b"print(1)\nraise ValueError('in stdin')\n"),
        see("stdin-empty", "-"),
        see("command-python", "--", "python", script),
        see("command-full-path", "--", sys.executable, script, "--", "-q"),
        see("command-flags", "--", "python", "-O", "-B", "-u", "-X", "dev", "-W", "ignore", script),
        see("command-isolated", "--", "python", "-I", script),
        see("command-without-environment", "--", "python", "-E", script),
        see("command-without-site", "--", "python", "-S", script),
        see("command-without-user-site", "--", "python", "-s", script),
        see("command-code", "--", "python", "-c", show_path),
        see("command-module", "--", "python", "-m", "surroundings"),
        see("command-interactive", "--", "python", "-i", "endings.py", "uncaught", stdin=b"print(1)\n"),
        see("command-version", "--", "python", "-V"),
        see("command-exits", "--", "sh", "-c", "echo out; echo err >&2; exit 9"),
        see("command-dies", "--", "sh", "-c", "kill -9 $$"),
        see("command-terminates-itself", "--", "sh", "-c", "kill -TERM $$"),
        see("command-names-itself", "--", "sh", "-c", "no_such_command"),
        see("command-runs-python", "--", "sh", "-c", "python endings.py exit_with_3; echo $?"),
        see("command-reads", "--", "cat", stdin=b"some bytes \xff\x00\n"),
        see("other-python", script, python=BASE_PYTHON),
    ]


def inherited() -> list[Situation]:
    """What a process gets from the one that starts it: streams, signals, limits, environment."""

    def see(name: str, shell: str | None = None, **more: object) -> Situation:
        program = ("surroundings.py",)
        return Situation(f"inherited-{name}", program, shell=shell, **more)  # type: ignore[arg-type]

    def env(name: str, value: str) -> Situation:
        return see(f"{name}={value}", environment={name: value})

    dev = ("--", "python", "-X", "dev", "interpreter.py", "file_left_open")
    return [
        see("nohup", 'trap "" HUP; exec "$@"'),
        see("interrupt-ignored", 'trap "" INT; exec "$@"'),
        see("umask", 'umask 027; exec "$@"'),
        see("limits", 'ulimit -n 200; exec "$@"'),
        see("niceness", 'exec nice -n 3 "$@"'),
        see("descriptor", 'exec 7</dev/null; exec "$@"'),
        see("no-stdin", 'exec "$@" <&-'),
        Situation("inherited-no-stdout", ("interpreter.py", "file_left_open"), shell='exec "$@" >&-'),
        Situation("inherited-no-stderr", ("endings.py", "uncaught"), shell='exec "$@" 2>&-'),
        Situation("inherited-no-streams", ("endings.py", "exit_with_3"), shell='exec "$@" <&- >&- 2>&-'),
        Situation("stdout-nobody-reads", ("at_exit.py", "order"), stdout="closed pipe"),
        Situation("stdout-nobody-reads-exit-3", ("threads.py", "outlives_main"), stdout="closed pipe"),
        Situation("stdout-nobody-reads-command", ("--", "sh", "-c", "echo 1; exit 4"), stdout="closed pipe"),
        Situation("stdout-full", ("at_exit.py", "order"), stdout="/dev/full"),
        Situation("left-open-in-development-mode", dev),
        env("PYTHONPATH", ""),
        env("PYTHONPATH", ":"),
        env("PYTHONPATH", "a::/b:."),
        env("PYTHONDEVMODE", "1"),
        env("PYTHONWARNINGS", "error"),
        env("PYTHONOPTIMIZE", "2"),
        env("PYTHONUNBUFFERED", "1"),
        env("PYTHONIOENCODING", "latin-1:replace"),
        env("PYTHONUTF8", "0"),
        env("PYTHONSAFEPATH", "1"),
        env("PYTHONNOUSERSITE", "1"),
        env("PYTHONINSPECT", "1"),
        env("PYTHONFAULTHANDLER", "1"),
        env("LC_ALL", "C"),
    ]


def torch_programs() -> list[Situation]:
    """Programs with torch that need a process of their own."""

    def situation(file: str, name: str, *, graphs: int | None = None, **more: object) -> Situation:
        stem = file.removesuffix(".py")
        program = (file, name)
        return Situation(f"{stem}-{name}", program, graphs=graphs, **more)  # type: ignore[arg-type]

    eager = ("--backend", "eager")
    dev = ("--", "python", "-X", "dev", "compiled.py", "works")
    before_torch = "the_time+the_clocks+process_ids+standard_output+logging_off+environment"
    return [
        *(situation("imports_torch.py", name) for name in situations_of("imports_torch.py")),
        *(situation("captured.py", name, options=eager) for name in ("fails", *NOT_TOGETHER["captured.py"])),
        situation("captured.py", "forks", options=eager, graphs=1),
        situation("replaced.py", before_torch, graphs=1),
        situation("compiled.py", "is_distributed"),
        Situation("compiled-in-development-mode", dev, graphs=1),
    ]


# Several situations of one process: torch is imported once, and each is compared by itself.
NOT_TOGETHER = {
    "captured.py": ("exits_at_once", "works_at_exit", "has_no_working_directory"),
    "compiled.py": ("is_distributed",),
    "descriptors.py": (),
    "replaced.py": (),
    "threads.py": (
        "outlives_main",
        "outlives_a_failing_main",
        "outlives_an_exiting_main",
        "pickles_after_main",
    ),
    "interpreter.py": ("faults_shown", "standard_input", "warning_as_error", "audited"),
}
GRAPHS_TOGETHER = {"replaced.py": 1 + len(situations_of("replaced.py"))}
TOGETHER = [
    (file, name)
    for file, left_out in NOT_TOGETHER.items()
    for name in [*situations_of(file), "the_end"]
    if name not in left_out
]


WITH_OR_WITHOUT = [*one_by_one(), *signals()]
# What runs without torch is cheap, and also in TOGETHER; what is left out here is run with ALL_CASES=1.
ALONE = [
    *one_in(8, [situation for situation in WITH_OR_WITHOUT if not situation.environment]),
    *one_in(24, [situation for situation in WITH_OR_WITHOUT if situation.environment]),
    *one_in(6, forms()),
    *one_in(8, inherited()),
    *one_in(18, torch_programs()),
]


@pytest.mark.parametrize("situation", ALONE, ids=[situation.name for situation in ALONE])
def test_one_program(situation: Situation, tmp_path: Path) -> None:
    assert_same_as_python(situation, tmp_path / "recording")


Together = tuple[dict[str, Outcome], dict[str, Outcome], Callable[[], None]]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Together]:
    """What each situation of a file printed, under plain python and under ours, and a check of the recording.

    The file runs once.
    """

    @functools.cache
    def run(file: str) -> Together:
        situation = Situation(
            file,
            (file, *(name for other, name in TOGETHER if other == file and name != "the_end")),
            options=("--backend", "eager"),
            environment=TORCH,
            graphs=GRAPHS_TOGETHER.get(file),
        )
        recording = tmp_path_factory.mktemp("together") / "recording"
        plain, recorded = outcomes(situation, recording)
        check = functools.partial(check_recording, recording, situation, plain.exit_code)
        return _by_situation(plain), _by_situation(recorded), check

    return run


def _by_situation(outcome: Outcome) -> dict[str, Outcome]:
    out, err = (
        {part.partition("\n")[0]: part.partition("\n")[2] for part in text.split("=== ")[1:]}
        for text in (outcome.stdout, outcome.stderr)
    )
    return {name: Outcome(outcome.exit_code, out[name], err.get(name, "")) for name in out}


@pytest.mark.parametrize(
    ("file", "name"), TOGETHER, ids=[f"{file.removesuffix('.py')}-{name}" for file, name in TOGETHER]
)
def test_programs_in_one_process(file: str, name: str, together: Callable[[str], Together]) -> None:
    if name == "warns" and TORCH_VERSION < (2, 9):
        pytest.skip("torch 2.8 sets filters of warnings at each compile: Python then shows a warning again")
    plain, recorded, check = together(file)
    assert name in plain
    assert name in recorded
    assert_equal(plain[name], recorded[name])
    if name == "the_end":
        check()


# Sources that an editor or a formatter would not leave as they are.
SOURCES = {
    "bad-syntax": b"print('never')\ndef f(:\n    pass\n",
    "bad-indentation": b"if True:\nprint(1)\n",
    "no-newline-at-end": b"print('no newline')",
    "empty": b"",
    "latin-1": b"# -*- coding: latin-1 -*-\nprint('caf\xe9')\nraise ValueError('caf\xe9')  # \xe9\n",
    "not-utf-8": b"print('caf\xe9')\n",
    "unknown-coding": b"# coding: no-such-coding\nprint(1)\n",
    "byte-order-mark": b"\xef\xbb\xbfprint(__file__)\n1/0\n",
    "windows-lines": b"print(1)\r\n1/0\r\n",
    "null-byte": b"print(1)\n\x00\n",
    "tabs-and-non-ascii": "\tx\n1/0  # ünïcödé".replace("\tx\n", "été = 1\n").encode(),
    "removes-itself": b"import os\nos.unlink(__file__)\n1/0\n",
    "leaves-its-folder": b"import os, shutil\nshutil.rmtree(os.getcwd())\nprint(1)\n1/0\n",
    "syntax-warning": b"print('\\d', 1 is 1)\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    script = folder / "a script.py"
    restore = _writer({script: SOURCES[name]})
    situation = Situation(name, (str(script),), cwd=folder, before=restore)
    assert_same_as_python(situation, tmp_path / "recording")


COMPILED_WHERE_NOTHING_IS = """
import os, shutil, torch
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)))
shutil.rmtree(os.getcwd())
print(torch.compile(lambda x: x + 2, backend="eager")(torch.ones(1)))
"""


@nightly
def test_working_directory_removed_by_a_program_with_torch(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    script = tmp_path / "script.py"
    restore = _writer({script: COMPILED_WHERE_NOTHING_IS.encode(), folder / "file": b""})
    situation = Situation(
        "gone", (str(script),), cwd=folder, before=restore, options=("--backend", "eager"), graphs=2
    )
    assert_same_as_python(situation, tmp_path / "recording")


@pytest.mark.parametrize("kind", ["folder", "zip", "link", "linked-folder", "executable", "package"])
def test_place_of_the_program(kind: str, tmp_path: Path) -> None:
    code = (PROGRAMS / "surroundings.py").read_bytes()
    program: tuple[str, ...] = ("app",)
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "app", "w") as archive:
            archive.writestr("__main__.py", code)
    elif kind == "link":
        (tmp_path / "app").symlink_to(PROGRAMS / "surroundings.py")
    elif kind == "linked-folder":
        (tmp_path / "app").symlink_to(PROGRAMS)
        program = ("app/surroundings.py",)
    elif kind == "executable":
        (tmp_path / "app").write_bytes(f"#!{sys.executable}\n".encode() + code)
        (tmp_path / "app").chmod(stat.S_IRWXU)
        program = ("--", "./app")
    else:
        _writer({tmp_path / "app" / "__main__.py": code, tmp_path / "app" / "__init__.py": b"print(1)"})()
        program = ("-m", "app") if kind == "package" else ("app",)
    assert_same_as_python(Situation(kind, program, cwd=tmp_path), tmp_path / "recording")


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with nothing installed, which loads hardly any modules before the program starts."""
    folder = tmp_path_factory.mktemp("venv") / "bare"
    venv.create(folder, symlinks=True)
    return str(folder / "bin" / "python")


def test_modules_at_start(bare_python: str, tmp_path: Path) -> None:
    situation = Situation("modules", ("--", bare_python, "modules_at_start.py"))
    assert_same_as_python(situation, tmp_path / "recording")


# Modules of Python's, of ours and of our dependencies, that a program may have of its own.
NAMESAKES = [
    *("json", "logging", "click", "rich", "tabulate", "core", "reporters", "dis", "traceback", "types"),
    *("typing", "re", "enum", "contextlib", "functools", "operator", "dataclasses", "collections"),
    *("hashlib", "atexit", "threading", "linecache", "importlib", "platform", "mmap", "fcntl"),
    *("dynamo_reporters", "names", "settings", "engine", "stream"),
]


# A third of them as a script, and some of each kind as a module; ALL_CASES=1 tries all in both ways.
NAMESAKE_STARTS = [("script", name) for name in one_in(3, NAMESAKES)]
NAMESAKE_STARTS += [("module", name) for name in ("json", "click", "core", "types", "engine")]
if ALL_CASES:
    NAMESAKE_STARTS = list(product(("script", "module"), NAMESAKES))


@pytest.mark.parametrize(("start", "name"), NAMESAKE_STARTS)
def test_module_beside_the_script(name: str, start: str, bare_python: str, tmp_path: Path) -> None:
    _write_namesakes(tmp_path, name)
    program = ("namesake.py", name) if start == "script" else ("-m", "namesake", name)
    situation = Situation(name, ("--", bare_python, *program), cwd=tmp_path)
    assert_same_as_python(situation, tmp_path / "recording")


@pytest.mark.parametrize(
    ("names", "graphs"),
    [
        (("click", "rich", "core", "reporters", "names", "settings", "engine", "process", "arm"), 1),
        (("json",), None),  # too much for torch itself
        (("typing", "dis"), None),
    ],
    ids=["ours", "json", "pythons"],
)
def test_modules_beside_a_script_with_torch(
    names: tuple[str, ...], graphs: int | None, tmp_path: Path
) -> None:
    _write_namesakes(tmp_path, *names)
    situation = Situation(
        "namesakes", ("namesake.py", *names), cwd=tmp_path, environment=TORCH, graphs=graphs
    )
    assert_same_as_python(situation, tmp_path / "recording")


def _write_namesakes(folder: Path, *names: str) -> None:
    shutil.copy(PROGRAMS / "namesake.py", folder)
    for name in names:
        (folder / f"{name}.py").write_text(f"print('the own {name}', __name__, __file__)\n")


CUSTOMIZATIONS = {
    "prints": "print('custom', __name__, __file__, sys.path)",
    "fails": "print('custom'); raise RuntimeError('in custom')",
    "fails-to-import": "import there_is_no_such_module",
    "fails-like-a-missing-one": "raise ImportError('none', name=__name__)",
    "exits": "raise SystemExit(3)",
    "imports-much": "import typing, re, json; print(sorted(vars()))",
}
NOT_IN_DYNAMO_ITSELF = "import sys\nif 'dynamo_cli' not in sys.orig_argv: "


@pytest.mark.parametrize("name", CUSTOMIZATIONS)
@pytest.mark.parametrize("module", ["sitecustomize", "usercustomize"])
def test_customization(name: str, module: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(NOT_IN_DYNAMO_ITSELF + CUSTOMIZATIONS[name])
    situation = Situation(
        name, ("--", BASE_PYTHON, "surroundings.py"), environment={"PYTHONPATH": str(tmp_path)}
    )
    assert_same_as_python(situation, tmp_path / "recording")


@nightly
def test_customization_that_imports_torch(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"{NOT_IN_DYNAMO_ITSELF}import torch; print(torch.ones(1))")
    situation = Situation(
        "torch", ("compiled.py", "works"), environment={"PYTHONPATH": str(tmp_path)}, graphs=1
    )
    assert_same_as_python(situation, tmp_path / "recording")


OTHER_TORCHES = {
    "broken": "print('own torch')\nraise ImportError('not built', name='torch')",
    "badly-written": "def f(:",
    "empty": "",
    "other": "__version__ = 'mine'\ncompile = ones = print",
    "exits": "raise SystemExit(3)",
}


@pytest.mark.parametrize("name", OTHER_TORCHES)
@pytest.mark.parametrize("place", ["torch/__init__.py", "torch.py"])
def test_another_torch(name: str, place: str, tmp_path: Path) -> None:
    program = (PROGRAMS / "imports_torch.py").read_bytes()
    _writer({tmp_path / place: OTHER_TORCHES[name].encode(), tmp_path / "program.py": program})()
    situation = Situation(name, ("program.py", "as_the_program_finds_it"), cwd=tmp_path, is_torch=False)
    assert_same_as_python(situation, tmp_path / "recording")


def test_descriptors_passed_on(tmp_path: Path) -> None:
    code = "import os; print(os.read(int(os.environ['NUMBER']), 100))"
    shell = 'echo passed on | { exec 8<&0; "$@" </dev/null; }'
    situation = Situation("passed", ("-c", code), shell=shell, environment={"NUMBER": "8"})
    assert_same_as_python(situation, tmp_path / "recording")


def _writer(files: dict[Path, bytes]) -> Callable[[], None]:
    """Writes the files, again and again: programs remove them."""

    def write() -> None:
        for file, content in files.items():
            os.makedirs(file.parent, exist_ok=True)
            file.write_bytes(content)

    return write

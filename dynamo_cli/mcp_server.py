"""An MCP server: the commands as tools for a coding agent.

It imports no torch: a tool runs `python -m dynamo_cli …` in the folder that the server was started in. It
runs programs and reads recordings below that folder only, changes files only by `fix` with `allow_edits`, and
answers with a page of bounded size and a cursor for the next one.

Source: the official Python SDK (mcp.server.mcpserver.MCPServer), read and run with 2.3.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from anyio.abc import ByteReceiveStream, Process
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import Resource
from pydantic import Field

from dynamo_core.recording.files import default_folder, recordings
from dynamo_reporters.registry import OF_RECORDINGS

_PAGE_CHARACTERS = 4000
_TOKENS = 1000  # of a resource; what makes a budget of them takes longer to import than this module
_LISTED = 20  # recordings
_OUTPUT_CHARACTERS = 4000  # of a program: its end
_PROGRESS_S = 1.0
_GRACE_S = 3.0  # between SIGTERM and SIGKILL
_INSTRUCTIONS = (
    "See what torch.compile makes of a PyTorch program, and cure it. Begin with `run` (it runs the program "
    "once, unmodified), then `explain`: its first action is what to do. Make that one change, `run` again, "
    "`explain` again: the finding is to be gone. `fix` does this by itself on a copy of the files. Times are "
    "bounds: what is faster is measured by the program's own clock or `dynamo-cli bench`. "
    "What outputs call `dynamo` is the command `dynamo-cli`."
)
_OPTIONS_OF_PYTEST = ("-q", "-v", "-x", "-s")

Program = Annotated[
    list[str],
    Field(
        description="A script below the server's folder and its arguments, or -m, a module there, arguments"
    ),
]
Recording = Annotated[
    str | None, Field(description="A recording's folder or file below the server's folder; else the newest")
]
Cursor = Annotated[int, Field(ge=0, description="The `cursor` of the page before; 0 for the first")]
if TYPE_CHECKING:
    _Report = str
else:
    _Report = Literal[tuple(name for name in (*OF_RECORDINGS, "cache") if name != "explain")]
Seconds = Annotated[int, Field(ge=1, le=86400, description="End the program after so many seconds")]


@dataclass(frozen=True)
class Answer:
    """What a command said: one page of it, and `cursor` for the next page, None where this was the last.

    `exit_code` is the command's: of `run` and `verify` the program's. `messages` is the end of stderr.
    """

    exit_code: int
    text: str
    cursor: int | None = None
    messages: str = ""


class _Tail:
    """The end of a stream of any length."""

    def __init__(self, characters: int | None) -> None:
        self._most = characters
        self._kept = b""
        self._left_out = 0

    async def read(self, stream: ByteReceiveStream) -> None:
        async for chunk in stream:
            self._kept += chunk
            if self._most is not None and len(self._kept) > 2 * self._most:
                self._left_out += len(self._kept) - self._most
                self._kept = self._kept[-self._most :]

    def text(self) -> str:
        """What was kept, and how much is missing before it."""
        kept = self._kept if self._most is None else self._kept[-self._most :]
        left_out = self._left_out + len(self._kept) - len(kept)
        before = f"[{left_out} bytes before this are left out]\n" if left_out else ""
        return before + kept.decode("utf-8", "replace")


class Commands:
    """Runs commands below one folder. ToolError says what was refused, and why."""

    def __init__(self, root: Path, *, allow_edits: bool) -> None:
        self._root = root.resolve()
        self.allow_edits = allow_edits

    def program(self, arguments: Sequence[str]) -> list[str]:
        """The program as the command line takes it, if it is below the folder."""
        if any("\0" in argument for argument in arguments):
            raise ToolError("program: an argument has a null character")
        if arguments[:1] == ["-m"] and len(arguments) > 1:
            self._check_module(arguments[1], arguments[2:])
            return list(arguments)
        if not arguments or arguments[0].startswith("-"):
            raise ToolError("program: give a script, or -m and a module")
        self.inside(arguments[0], "program")
        return list(arguments)

    def _check_module(self, name: str, arguments: Sequence[str]) -> None:
        if name == "pytest":
            for argument in arguments:
                if argument.startswith("-") and argument not in _OPTIONS_OF_PYTEST:
                    raise ToolError(f"pytest {argument}: only {', '.join(_OPTIONS_OF_PYTEST)} and paths")
                if not argument.startswith("-"):
                    self.inside(argument.partition("::")[0], "test")
            return
        first = name.partition(".")[0]
        if not first.isidentifier():
            raise ToolError(f"-m {name}: it is not the name of a module")
        self.inside(first if os.path.isdir(self._root / first) else f"{first}.py", f"-m {name}:")

    def inside(self, path: str, what: str) -> str:
        """The path, if it leads to something of this user's below the folder."""
        if path.startswith("-"):
            raise ToolError(f"{what} {path}: an option cannot be given here")
        try:
            found = (self._root / path).resolve()
            if not found.is_relative_to(self._root):
                raise ToolError(f"{what} {path}: it is not below {self._root}")
            if not found.exists():
                raise ToolError(f"{what} {path}: there is no such file in {self._root}")
            files = [found, *found.iterdir()] if found.is_dir() else [found]
            if any(file.lstat().st_uid != os.getuid() for file in files):
                raise ToolError(f"{what} {path}: it belongs to another user")
        except (OSError, ValueError) as error:  # a name that is too long, or no name at all
            raise ToolError(f"{what} {path[:200]}: {error}") from error
        return path

    def target(self, recording: str | None) -> list[str]:
        """A recording as the last argument of a report; none for the newest."""
        return [] if recording is None else [self.inside(recording, "recording")]

    async def page(self, arguments: Sequence[str], cursor: int, context: Context) -> Answer:
        """One page of what a command that reads says."""
        exit_code, text, messages = await self._finished(arguments, None, None, context)
        end = cursor + _PAGE_CHARACTERS
        if end < len(text):
            end = text.rfind("\n", cursor, end) + 1 or end
        return Answer(exit_code, text[cursor:end], end if end < len(text) else None, messages)

    async def output(self, arguments: Sequence[str], seconds: int, context: Context) -> Answer:
        """The end of what a program prints under a command that runs it."""
        exit_code, text, messages = await self._finished(arguments, _OUTPUT_CHARACTERS, seconds, context)
        return Answer(exit_code, text, None, messages)

    async def _finished(
        self, arguments: Sequence[str], most: int | None, seconds: int | None, context: Context
    ) -> tuple[int, str, str]:
        process = await anyio.open_process(
            [sys.executable, "-m", "dynamo_cli", *arguments],
            cwd=self._root,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        out, err = _Tail(most), _Tail(_OUTPUT_CHARACTERS)
        assert process.stdout is not None and process.stderr is not None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_report_progress, arguments[0], context)
                with anyio.move_on_after(seconds) as limit:
                    async with anyio.create_task_group() as readers:
                        readers.start_soon(out.read, process.stdout)
                        readers.start_soon(err.read, process.stderr)
                        await process.wait()
                        # What it has started may hold its pipes open.
                        readers.cancel_scope.deadline = anyio.current_time() + _GRACE_S
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        ended = f"ended after {seconds} s, its limit\n" if limit.cancelled_caught else ""
        return process.returncode or 0, out.text(), ended + err.text()


async def _report_progress(command: str, context: Context) -> None:
    seconds = 0.0
    while True:
        await anyio.sleep(_PROGRESS_S)
        seconds += _PROGRESS_S
        await context.report_progress(seconds, None, f"dynamo {command}: {seconds:.0f} s")


async def _end(process: Process) -> None:
    """End a process that is still there, with what it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with anyio.move_on_after(_GRACE_S):
                await process.wait()
    await process.aclose()


class _Server(MCPServer):
    """A server that lists what is recorded while it runs."""

    async def list_resources(self) -> list[Resource]:
        """The newest recordings in the default folder, the newest first."""
        newest = recordings()[: -_LISTED - 1 : -1]
        return [
            Resource(uri=f"recording://{each.name}", name=each.name, mime_type="application/json")
            for each in newest
        ]


def server(root: Path, *, allow_edits: bool) -> MCPServer:
    """The server of one folder: eight tools, and the recordings there as resources."""
    commands = Commands(root, allow_edits=allow_edits)
    made = _Server("dynamo", instructions=_INSTRUCTIONS)
    _add_runs(made, commands)
    _add_reports(made, commands)
    return made


def _add_runs(made: MCPServer, commands: Commands) -> None:
    @made.tool()
    async def run(program: Program, context: Context, timeout_s: Seconds = 600) -> Answer:
        """Run a program once, unmodified, and record what torch.compile makes of it. Then call explain."""
        return await commands.output(["run", *commands.program(program)], timeout_s, context)

    @made.tool()
    async def verify(program: Program, context: Context, timeout_s: Seconds = 1200) -> Answer:
        """Run a program, and its compiled calls in plain Python too. exit_code 117: a result is wrong."""
        arguments = ["run", "--verify=error", *commands.program(program)]
        return await commands.output(arguments, timeout_s, context)

    @made.tool()
    async def check(program: Program, context: Context, timeout_s: Seconds = 600) -> Answer:
        """Run a program; exit_code 112 where it has more breaks or recompiles than dynamo.lock says."""
        return await commands.output(["check", *commands.program(program)], timeout_s, context)

    @made.tool()
    async def fix(
        context: Context,
        program: Program | None = None,
        apply: Annotated[int | None, Field(description="Number of a fix that the last `fix` proved")] = None,
        timeout_s: Seconds = 1800,
    ) -> Answer:
        """Try remedies on copies of the files, in many runs; say which are proven, or apply one of those."""
        if apply is not None:
            if not commands.allow_edits:
                raise ToolError("apply: start the server with --allow-edits to let it change files")
            return await commands.output(["fix", "--apply", str(apply)], timeout_s, context)
        if program is None:
            raise ToolError("fix: give a program, or the number of a fix to apply")
        return await commands.output(["fix", "-y", *commands.program(program)], timeout_s, context)

    @made.tool()
    async def repro(
        program: Program,
        context: Context,
        of: Annotated[
            str | None,
            Field(
                description="graph:N, break:N, recompile:N, exception or wrong-result; else what fails first",
                pattern=r"^[a-z]+[:-]?\w*$",
            ),
        ] = None,
        timeout_s: Seconds = 1800,
    ) -> Answer:
        """Make a small file that fails alone of what torch.compile gets wrong or crashes on: repro.py and
        issue.md in .dynamo. exit_code 105: nothing fails."""
        only = [] if of is None else ["--of", of]
        file = str(default_folder() / "repro.py")
        arguments = ["repro", "-y", "--budget", f"{timeout_s / 2:g}", "-o", file, *only]
        return await commands.output([*arguments, *commands.program(program)], timeout_s, context)


def _add_reports(made: MCPServer, commands: Commands) -> None:
    @made.tool()
    async def explain(
        context: Context,
        recording: Recording = None,
        everything: Annotated[bool, Field(description="All findings in full, not one screen")] = False,
        cursor: Cursor = 0,
    ) -> Answer:
        """Say what a recorded run did and what to do first."""
        whole = ["--all"] if everything else []
        return await commands.page(["explain", *whole, *commands.target(recording)], cursor, context)

    @made.tool()
    async def look(
        report: _Report,
        context: Context,
        recording: Recording = None,
        frame: Annotated[str | None, Field(description="Only this function", pattern=r"^[\w.]+$")] = None,
        cursor: Cursor = 0,
    ) -> Answer:
        """Look closer at one subject of a recording."""
        only = [] if frame is None else ["--frame", frame]
        return await commands.page([report, *only, *commands.target(recording)], cursor, context)

    @made.tool()
    async def diff(before: str, after: str, context: Context, cursor: Cursor = 0) -> Answer:
        """Compare two recordings: findings that came and went, counts, times."""
        pair = [commands.inside(each, "recording") for each in (before, after)]
        return await commands.page(["diff", *pair], cursor, context)

    @made.resource("recording://{name}", mime_type="application/json")
    async def recording(name: str, context: Context) -> str:
        """A recording in the default folder, as the JSON document of `explain`."""
        try:
            path = commands.inside(str(default_folder() / name), "recording")
        except ToolError as error:
            raise ResourceNotFoundError(str(error)) from error
        arguments = ["explain", "--json", "--budget", str(_TOKENS), path]
        return (await commands.page(arguments, 0, context)).text

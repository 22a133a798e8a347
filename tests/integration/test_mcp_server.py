"""`dynamo mcp` under the client of the official SDK: tools, bounds, and programs that do not behave."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp.client")
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents

from support.schemas import validate
from support.stored import stored

Use = Callable[[Client], Awaitable[None]]


@pytest.fixture
def serve(tmp_path: Path, environment: dict[str, str]) -> Callable[..., None]:
    def use_server(use: Use, *options: str) -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "dynamo_cli", "mcp", *options],
            cwd=tmp_path,
            env=environment,
        )

        async def connect() -> None:
            async with Client(parameters) as client:
                await use(client)

        # In a thread of its own: in this one the loop of Playwright's browser may still be open.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(anyio.run, connect).result()

    return use_server


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


def test_recordings_are_resources(serve: Callable[..., None], tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        assert (await client.list_resources()).resources == []
        for name in ("recompiling", "toy"):
            shutil.copytree(stored(name), tmp_path / ".dynamo" / name)
        resources = (await client.list_resources(cache_mode="refresh")).resources
        assert [each.uri for each in resources] == ["recording://recompiling", "recording://toy"]
        (content,) = (await client.read_resource("recording://toy")).contents
        assert isinstance(content, TextResourceContents)
        document = json.loads(content.text)
        validate(document)
        assert (document["schema"], document["recording"]) == (
            "dynamo-explain",
            str(tmp_path / ".dynamo" / "toy"),
        )
        assert len(content.text) <= 4000 and document["actions"]
        for name in ("nothing", "..", "%2E%2E"):
            with pytest.raises(MCPError):
                await client.read_resource(f"recording://{name}")

    serve(use)


def test_it_imports_no_torch_and_no_report(tmp_path: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "dynamo_cli", "mcp"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, input="", capture_output=True, text=True, timeout=120
    )
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "dynamo_cli.mcp_server" in imported
    assert imported.isdisjoint({"torch", "numpy", "dynamo_core.model", "dynamo_reporters.report"})


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content)


def test_there_are_few_tools_and_each_is_described(serve: Callable[..., None]) -> None:
    async def use(client: Client) -> None:
        tools = (await client.list_tools()).tools
        names = {"run", "explain", "look", "fix", "check", "diff", "verify", "repro"}
        assert {tool.name for tool in tools} == names
        assert all(tool.description for tool in tools)

    serve(use)


def test_a_program_is_run_and_explained_page_by_page(serve: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("print('hello')\n")
    shutil.copytree(stored("toy"), tmp_path / "toy")

    async def use(client: Client) -> None:
        ran = await answer(client, "run", program=["small.py"])
        assert (ran["exit_code"], ran["text"]) == (0, "hello\n")
        assert (await answer(client, "repro", program=["small.py"]))["exit_code"] == 105
        first = await answer(client, "explain", recording="toy")
        assert "Do first" in first["text"] and len(first["text"]) <= 4000
        whole, cursor = "", 0
        while cursor is not None:
            page = await answer(client, "look", report="graphs", recording="toy", cursor=cursor)
            assert len(page["text"]) <= 4000
            whole, cursor = whole + page["text"], page["cursor"]
        assert whole.startswith("3 graphs")

    serve(use)


def test_what_is_outside_is_refused(serve: Callable[..., None], tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("print('outside')\n")
    (tmp_path / "link.py").symlink_to(outside)
    (tmp_path / "--all").touch()

    async def use(client: Client) -> None:
        for program in (
            [str(outside)],
            ["link.py"],
            [f"../{outside.name}"],
            ["-m", "timeit"],
            ["-m", "link"],
            ["-m", str(outside.with_suffix(""))],
            ["n" * 5000],
            ["link.py", "a\0b"],
            ["-c", "1"],
            [],
        ):
            assert "program" in (said := await refused(client, "run", program=program)) or "-m" in said
        assert "pytest" in await refused(client, "run", program=["-m", "pytest", "--rootdir=/"])
        assert "not below" in await refused(client, "explain", recording="..")
        assert "an option" in await refused(client, "explain", recording="--all")
        assert "--allow-edits" in await refused(client, "fix", apply=1)

    serve(use)


def test_a_program_that_hangs_is_ended_and_one_that_prints_much_or_crashes_is_shown(
    serve: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "hangs.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    (tmp_path / "prints.py").write_text("for _ in range(200):\n    print('x' * 1_000_000)\nprint('end')\n")
    (tmp_path / "crashes.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")

    async def use(client: Client) -> None:
        hung = await answer(client, "run", program=["hangs.py"], timeout_s=5)
        assert "ended after 5 s" in hung["messages"] and "begun" in hung["text"] and hung["exit_code"] != 0
        printed = await answer(client, "run", program=["prints.py"])
        assert printed["text"].endswith("end\n") and len(printed["text"]) < 5000
        assert re.match(r"\[199\d{6} bytes before this", printed["text"])  # of 200 MB
        assert (await answer(client, "run", program=["crashes.py"]))["exit_code"] in (-11, 139)

    serve(use)


def test_a_call_that_is_cancelled_leaves_no_process(serve: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )

    async def use(client: Client) -> None:
        with anyio.move_on_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "run", {"program": ["hangs.py"]})
                while not (tmp_path / "pid").exists():
                    await anyio.sleep(0.1)
                tasks.cancel_scope.cancel()
        pid = int((tmp_path / "pid").read_text())
        end = time.monotonic() + 30
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            await anyio.sleep(0.1)
        assert not Path(f"/proc/{pid}").exists()
        assert (await client.list_tools()).tools  # it goes on serving

    serve(use)


def test_two_calls_at_once(serve: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text("import sys, time\ntime.sleep(1)\nprint(sys.argv[1])\n")
    said: list[str] = []

    async def use(client: Client) -> None:
        async def one(name: str) -> None:
            said.append((await answer(client, "run", program=["waits.py", name]))["text"])

        async with anyio.create_task_group() as tasks:
            for name in ("a", "b"):
                tasks.start_soon(one, name)

    serve(use)
    assert sorted(said) == ["a\n", "b\n"]

"""`dynamo cache --store`: what lies in cache folders; nothing is changed unless that is asked for."""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from support.answering import Result, answer
from support.rights import as_nobody
from support.schemas import validate

KEY = "a2b3c4d5e6f7" * 4 + "abc"
DAY = 86_400


def entry(folder: Path, name: str, content: bytes = b"x" * 1000, days: float = 0.0) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    used = time.time() - days * DAY
    os.utime(path, (used, used))
    return path


@pytest.fixture
def inductor(tmp_path: Path) -> Path:
    folder = tmp_path / "torchinductor_me"
    entry(folder, f"fxgraph/ab/f{KEY}/one", b"pickled # torch version: 2.13.0+cpu\n more")
    entry(folder, f"fxgraph/cd/f{KEY}/two", b"pickled # torch version: 2.12.1\n", days=40)
    entry(folder, f"aotautograd/a{KEY}/one", days=2)
    for ending in ("cpp", "so"):
        entry(folder, f"ab/c{KEY}.{ending}", days=40)
    entry(folder, "precompiled_headers/x.h.gch")
    entry(folder, f"locks/c{KEY}.lock", b"", days=40)
    return folder


def store(*arguments: str | Path, **surroundings: Any) -> Result:
    result = answer("cache", "--store", *arguments, **surroundings)
    assert (result.exit_code, result.stderr) == (0, "")
    return result


def told(*arguments: str | Path) -> dict[str, Any]:
    document = json.loads(store(*arguments, "--format", "json").stdout)
    validate(document)
    (folder,) = document["folders"]
    found: dict[str, Any] = folder
    return found


def files(folder: Path) -> dict[str, tuple[int, float]]:
    found = {str(path.relative_to(folder)): path.lstat() for path in folder.rglob("*")}
    return {name: (status.st_size, status.st_mtime) for name, status in found.items()}


def test_layers_sizes_ages_and_versions(inductor: Path) -> None:
    found = told(inductor)
    layers = {
        layer["name"]: (layer["entries"], layer["size"], layer["old_entries"]) for layer in found["layers"]
    }
    assert layers == {
        "FX graphs": (2, 73, 1),
        "AOTAutograd": (1, 1000, 0),
        "C++ and Python code": (1, 2000, 1),
        "precompiled C++ headers": (1, 1000, 0),
        "locks": (1, 0, 0),
    }
    assert found["torch"] == {"2.13.0+cpu": 1, "2.12.1": 1}
    assert found["problems"] == []
    page = store(inductor).stdout
    assert page.startswith("4.0 kB in 6 entries, 2.0 kB not used for 30 days\n")
    assert "40 days ago" in page


def test_looking_changes_nothing_and_pruning_what_is_old_alone(inductor: Path) -> None:
    before = files(inductor)
    accessed = (inductor / f"fxgraph/cd/f{KEY}/two").stat().st_atime
    store(inductor)
    assert files(inductor) == before
    assert (inductor / f"fxgraph/cd/f{KEY}/two").stat().st_atime == accessed
    assert told(inductor, "--prune", "--unused-for", "50")["pruned"] == {"entries": 0, "size": 0, "failed": 0}
    assert files(inductor) == before
    assert told(inductor, "--prune")["pruned"] == {"entries": 2, "size": 2032, "failed": 0}
    gone = before.keys() - files(inductor).keys()
    assert gone == {
        f"fxgraph/cd/f{KEY}/two",
        f"fxgraph/cd/f{KEY}",
        "fxgraph/cd",
        f"ab/c{KEY}.cpp",
        f"ab/c{KEY}.so",
        "ab",
    }


def test_what_is_damaged_foreign_or_a_link_is_one_line_and_stays(inductor: Path, tmp_path: Path) -> None:
    secret = entry(tmp_path, "secret.txt", days=90)
    entry(inductor, f"aotautograd/a{KEY}/two", b"")
    for name in ("notes.txt", "more\x1b[31m.txt"):
        entry(inductor, name, days=90)
    (inductor / "fxgraph" / "link").symlink_to(tmp_path)
    (inductor / f"ab/c{KEY}.py").symlink_to(secret)
    os.mkfifo(inductor / "pipe")
    problems = told(inductor)["problems"]
    assert problems[0].startswith("1 entry damaged (a file without content): aotautograd/")
    assert problems[1].startswith("5 files of none of these caches, left alone: ab/")
    assert len(problems) == 2
    assert "\x1b" not in store(inductor).stdout
    store(inductor, "--prune", "--unused-for", "0.5")
    left = files(inductor)
    assert {"notes.txt", "fxgraph/link", f"ab/c{KEY}.py", "pipe"} <= left.keys()
    assert secret.exists()


def test_ten_thousand_entries_take_two_seconds_at_most(tmp_path: Path) -> None:
    folder = tmp_path / "inductor"
    letters = "abcdefghijklmnopqrstuvwxyz234567"
    for number in range(10_000):
        code = "".join(letters[number >> shift & 31] for shift in (0, 5, 10))
        parent = folder / "fxgraph" / code[:2] / ("f" + code + KEY[3:])
        parent.mkdir(parents=True)
        (parent / "entry").write_bytes(b"# torch version: 2.13.0\n")
    began = time.process_time()
    assert told(folder)["entries"] == 10_000
    assert time.process_time() - began < 2.0


def test_vllms_folders_say_in_what_their_keys_differ(tmp_path: Path) -> None:
    root = tmp_path / "torch_compile_cache"
    for number, (name, address) in enumerate({"0a1b2c3d4e": "10.0.0.1", "1a1b2c3d4e": "10.0.0.2"}.items()):
        factors = {"env": {"VLLM_HOST_IP": address, "VLLM_PP": 1}, "config_hash": "x", "code_hash": name}
        path = f"{name}/rank_0_0/backbone/cache_key_factors.json"
        entry(root, path, json.dumps(factors).encode(), days=2 - number)
    entry(root, "2a1b2c3d4e/rank_0_0/backbone/cache_key_factors.json", b"{")
    found = told(root)
    assert (found["kind"], [each["differs"] for each in found["vllm"]]) == (
        "vLLM",
        [None, ["env.VLLM_HOST_IP: 10.0.0.1 → 10.0.0.2"], None],
    )
    assert "cannot be read" in found["vllm"][2]["problem"]
    assert "env.VLLM_HOST_IP: 10.0.0.1 → 10.0.0.2" in store(root).stdout


def test_the_folders_of_this_machine_are_found_by_the_environment(inductor: Path, tmp_path: Path) -> None:
    triton = tmp_path / "home" / ".triton" / "cache"
    entry(triton, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567/kernel.cubin")
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor), "HOME": str(tmp_path / "home")}
    page = store(env=environment).stdout
    assert f"{inductor}: Inductor" in page
    assert f"{triton}: Triton" in page


def test_bad_input(tmp_path: Path) -> None:
    missing = answer("cache", "--store", tmp_path / "none")
    assert (missing.exit_code, missing.stderr) == (123, f"dynamo: no such folder: {tmp_path / 'none'}\n")
    assert answer("cache", "--prune").exit_code == 2
    assert answer("cache", "--store", "--unused-for", "-1", tmp_path).exit_code == 2


def test_what_we_have_no_rights_to_is_one_line(inductor: Path, tmp_path: Path) -> None:
    for parent in (tmp_path, *tmp_path.parents):  # pytest's own are closed to others
        if parent == Path(tempfile.gettempdir()):
            break
        parent.chmod(0o755)
    (inductor / "aotautograd").chmod(0)
    home = tmp_path / "home"
    (home / ".triton" / "cache").mkdir(parents=True)
    home.chmod(0)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor), "HOME": str(home)}
    try:
        page = as_nobody(lambda: store(env=environment).stdout)
        pruned = as_nobody(lambda: store("--prune", inductor).stdout)
    finally:
        home.chmod(0o700)
        (inductor / "aotautograd").chmod(0o700)
    assert "1 folder cannot be looked into: aotautograd" in page
    assert f"1 folder cannot be looked into: {home}/.triton/cache" in page
    if os.geteuid() == 0:  # else the files are our own
        assert "3 files could not be deleted" in pruned

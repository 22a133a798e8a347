"""`dynamo cache` on stored recordings: a first run, one with another setting, and what is planted in them."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.compare.earlier import earlier_runs
from dynamo_core.model import CacheLookup
from dynamo_core.recording.caches import CACHE_KEYS
from dynamo_core.recording.read import read
from support.answering import answer
from support.schemas import validate
from support.stored import edited, plain, stored

FIRST, CHANGED = stored("cache_first"), stored("cache_changed")


def first_line(*arguments: Path) -> str:
    result = answer("cache", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.partition("\n")[0]


def told(*arguments: Path) -> dict[str, Any]:
    result = answer("cache", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    found: dict[str, Any] = document["caches"]
    return found


def test_a_changed_setting_is_named_first() -> None:
    assert first_line(FIRST, CHANGED).startswith("max_fusion_size: 64 → 32, set by the program (2 misses, ")
    found = told(FIRST, CHANGED)
    assert (found["verdict"], found["hits"], found["misses"]) == ("cold", 0, 2)
    (reason,) = found["reasons"]
    (cause,) = reason["causes"]
    assert (cause["part"], cause["before"], cause["after"]) == (
        "inductor_config[max_fusion_size]",
        "64",
        "32",
    )
    assert {lookup["compared_with"] for lookup in found["lookups"]} == {f"[0/0] of {FIRST}"}
    aot, fx = found["lookups"]
    assert (aot["took_seconds"], fx["function"], fx["direction"]) == (None, "f", "forward")
    assert 6 < fx["took_seconds"] == reason["lost_seconds"] == found["lost_seconds"] < 7


def test_the_reader_tells_the_same_without_the_parts() -> None:
    def lookups(*contents: str) -> list[CacheLookup]:
        (process,) = read(CHANGED, contents).processes
        return process.caching.lookups

    with_parts = lookups(CACHE_KEYS)
    assert all(len(lookup.parts or ()) > 600 for lookup in with_parts)
    assert [replace(lookup, parts=None) for lookup in with_parts] == lookups()


def test_of_a_first_run_no_cause_is_made_up() -> None:
    assert first_line(FIRST).startswith("No earlier run that compiled this is known (2 misses, ")
    assert told(FIRST)["verdict"] == "first run"


def test_the_runs_before_it_in_its_folder_are_found(tmp_path: Path) -> None:
    for path in (FIRST, CHANGED):
        shutil.copytree(path, tmp_path / ".dynamo" / path.name)
    result = answer("cache", cwd=tmp_path)
    assert result.stdout.startswith("max_fusion_size: 64 → 32, set by the program")
    assert "compared with .dynamo/cache_first" in result.stdout
    # The first has none before it, and what came later is no reason.
    assert answer("cache", ".dynamo/cache_first", cwd=tmp_path).stdout.startswith("No earlier run")


def test_many_runs_of_other_programs_do_not_hide_one_of_the_same(tmp_path: Path) -> None:
    for path in (FIRST, CHANGED):
        shutil.copytree(path, tmp_path / path.name)
    began = json.loads((CHANGED / "dynamo_run.json").read_text())["started_ns"]
    for number in range(1, 11):
        other = tmp_path / f"other_{number}"
        other.mkdir()
        run = json.loads((stored("toy") / "dynamo_run.json").read_text())
        (other / "dynamo_run.json").write_text(json.dumps(run | {"started_ns": began - number}))
    found = [run.path.name for run in earlier_runs(read(tmp_path / CHANGED.name), tmp_path / CHANGED.name)]
    assert len(found) == 8
    assert (found[0], found[-1]) == (FIRST.name, "other_1")


def test_a_hit_says_that_nothing_differs(tmp_path: Path) -> None:
    def hit(head: str, payload: str) -> str:
        if '"compile_file"' in payload:  # no kernel, and no header, is compiled
            return ""
        return payload.replace('"cache_state": "miss"', '"cache_state": "hit"')

    path = edited("cache_first", tmp_path, hit)
    for stream in path.glob("*.log"):
        stream.write_text(re.sub(r'_cache_miss"', '_cache_hit"', stream.read_text()))
    assert first_line(FIRST, path) == "Nothing differs, 2 hits."
    assert told(FIRST, path)["reasons"] == []


def test_the_same_key_in_another_folder_is_the_folders_fault(tmp_path: Path) -> None:
    def moved(head: str, payload: str) -> str:
        return payload.replace("/home/user/.cache/inductor", "/root/.cache/inductor")

    line = first_line(FIRST, edited("cache_first", tmp_path, moved))
    assert "the cache folder is another: /home/user/.cache/inductor → /root/.cache/inductor" in line


def test_the_same_key_that_was_not_kept(tmp_path: Path) -> None:
    def read_only(head: str, payload: str) -> str:
        return payload.replace('"is_writable": true', '"is_writable": false')

    line = first_line(edited("cache_first", tmp_path, read_only), FIRST)
    assert "the key is the same, but nothing can be written to /home/user/.cache/inductor" in line.lower()


def test_caches_that_are_off_are_named_with_who_did_it(tmp_path: Path) -> None:
    def off(head: str, payload: str) -> str:
        if "_cache_miss" in head:
            return ""
        payload = payload.replace('force_disable_caches": "False"', 'force_disable_caches": "True"')
        return payload.replace(
            '"environment": {', '"environment": {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", '
        )

    path = edited("cache_first", tmp_path, off)
    assert first_line(path).startswith(
        "All caches are off, by the environment variable TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 ("
    )
    assert told(path)["off"][0]["compiles"] == 1


def test_diff_tells_what_the_keys_differ_in() -> None:
    assert _conditions(FIRST, CHANGED)["cache key: inductor_config[max_fusion_size]"] == ("64", "32")
    assert not any(name.startswith("cache key") for name in _conditions(FIRST, FIRST))


def _conditions(before: Path, after: Path) -> dict[str, tuple[str, str]]:
    told = json.loads(answer("diff", before, after, "--format", "json").stdout)
    return {each["name"]: (each["before"], each["after"]) for each in told["difference"]["conditions"]}


def test_explain_has_what_a_bypass_cost(tmp_path: Path) -> None:
    def bypassed(head: str, payload: str) -> str:
        reason = '"cache_bypass_reason": "Unsupported post grad custom pass", "cache_state": "bypass"'
        return payload.replace('"cache_state": "miss"', reason)

    path = edited("cache_first", tmp_path, bypassed)
    for stream in path.glob("*.log"):
        stream.write_text(stream.read_text().replace('_cache_miss"', '_cache_bypass"'))
    findings = json.loads(answer("explain", path, "--format", "json").stdout)["findings"]
    (found,) = (finding for finding in findings if finding["kind"] == "cache bypass")
    assert (
        found["title"]
        == "1 graph cannot be kept in torch's caches: a custom pass (post grad) has no stable id"
    )
    assert found["cost"]["lost"]["known"] == "measured"
    assert "get_hash_for_files" in found["remedies"][0]["text"]
    assert "1 bypass" in first_line(path) or "2 bypasses" in first_line(path)


def test_explain_says_where_a_cold_start_came_from(tmp_path: Path) -> None:
    def in_memory(head: str, payload: str) -> str:
        return payload.replace('"filesystem": "ext4"', '"filesystem": "tmpfs"')

    findings = json.loads(
        answer("explain", edited("cache_first", tmp_path, in_memory), "--format", "json").stdout
    )
    (cold,) = (finding for finding in findings["findings"] if finding["kind"] == "cold start")
    assert "kept in memory (tmpfs)" in cold["cause"]
    assert cold["remedies"][0]["check"] == "dynamo cache"


def test_without_our_records_the_trace_tells_as_much_as_it_has() -> None:
    assert first_line(plain("cache_first"), plain("cache_changed")).startswith(
        "max_fusion_size: 64 → 32 (2 misses"
    )


def test_other_backends_have_no_caches(tmp_path: Path) -> None:
    without = edited("cache_first", tmp_path, lambda head, payload: "" if "_cache_miss" in head else payload)
    assert first_line(without) == "No look-ups in torch's caches were recorded."


@pytest.mark.parametrize("name", ["toy", "training"])
def test_several_graphs_of_a_first_run_are_not_compared_with_each_other(name: str) -> None:
    assert first_line(stored(name)).startswith("No earlier run that compiled this is known (")


def test_bad_input(tmp_path: Path) -> None:
    twice = answer("cache", FIRST, FIRST)
    assert (twice.exit_code, twice.stderr.count("\n")) == (2, 1)
    three = answer("cache", FIRST, CHANGED, tmp_path)
    assert (three.exit_code, three.stderr.count("\n")) == (2, 1)
    missing = answer("cache", tmp_path / "none", CHANGED)
    assert (missing.exit_code, missing.stderr.count("\n")) == (123, 1)


def of_two_processes(folder: Path, *, own_folders: bool = False) -> Path:
    """The first run as if two processes had compiled the same, neither finding what the other stored."""
    path = edited("cache_first", folder, lambda head, payload: payload)
    (stream,) = path.glob("*.log")
    text = stream.read_text()
    if own_folders:
        (other,) = edited("cache_first", folder / "other", in_another_folder).glob("*.log")
        text = other.read_text()
    stream.with_name(stream.name.replace(".log", "2.log")).write_text(text)
    return path


def in_another_folder(head: str, payload: str) -> str:
    return payload.replace("/home/user/.cache/inductor", "/home/user/.cache/inductor/rank_1")


@pytest.mark.parametrize(
    ("own_folders", "sentence", "what_to_do"),
    [
        (False, "several processes compiled the same graph at once", "compile in one process first"),
        (
            True,
            "compiled the same graph in a cache folder of its own",
            "one folder",
        ),
    ],
)
def test_processes_that_compiled_the_same(
    tmp_path: Path, own_folders: bool, sentence: str, what_to_do: str
) -> None:
    path = of_two_processes(tmp_path, own_folders=own_folders)
    assert told(path)["verdict"] == "cold"
    found = [cause for reason in told(path)["reasons"] for cause in reason["causes"]]
    (cause,) = (cause for cause in found if sentence in cause["sentence"])
    assert what_to_do in cause["what_to_do"]


@pytest.mark.parametrize(
    ("own_folders", "cause"),
    [
        (False, "each looked in the cache before another had stored the graph there"),
        (True, "each has a cache folder of its own"),
    ],
)
def test_explain_counts_what_several_processes_compiled(
    tmp_path: Path, own_folders: bool, cause: str
) -> None:
    path = of_two_processes(tmp_path, own_folders=own_folders)
    findings = json.loads(answer("explain", path, "--format", "json").stdout)["findings"]
    (found,) = (each for each in findings if "2 processes compiled the same" in each["title"])
    assert found["cause"] == cause


def test_a_full_disk_is_named_in_the_first_line_and_in_explain(tmp_path: Path) -> None:
    def full(head: str, payload: str) -> str:
        return re.sub(r'"free_bytes": \d+', '"free_bytes": 4096', payload)

    path = edited("cache_first", tmp_path, full)
    problem = "the disk of /home/user/.cache/inductor is full (4.0 kB free)"
    assert f"The key is the same, but {problem}" in first_line(FIRST, path)
    findings = json.loads(answer("explain", path, "--format", "json").stdout)["findings"]
    (cold,) = (finding for finding in findings if finding["kind"] == "cold start")
    assert problem in cold["cause"]

"""Caches that have no record of each look-up: what is recorded of them, and what is not."""

import json
import shutil
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from support.answering import answer
from support.schemas import validate
from support.stored import edited, stored

REMOTE_FX, BUNDLES = "remote FX graph cache", "bundles (save_cache_artifacts)"
AUTOTUNING = "autotuning results of Triton kernels"


def changed(folder: Path, **metrics: int) -> Path:
    """The first run, with other numbers in the metrics of its compile."""
    copy = folder / "cache_first"
    shutil.copytree(stored("cache_first"), copy)
    for stream in copy.glob("*.log"):
        text = stream.read_text()
        for name, value in metrics.items():
            before = f'"{name}": 0' if f'"{name}": 0' in text else f'"{name}": null'
            assert before in text
            text = text.replace(before, f'"{name}": {value}')
        stream.write_text(text)
    return copy


def with_record(folder: Path, name: str, content: object) -> Path:
    """The first run, and one more record in it."""
    copy = changed(folder)
    payload = json.dumps(content)
    digest = md5(payload.encode(), usedforsecurity=False).hexdigest()
    head = {"artifact": {"name": name, "encoding": "json"}, "has_payload": digest}
    for stream in copy.glob("*.log"):
        with stream.open("a") as file:
            file.write(f"V1122 09:48:00.000000 1 dynamo_core/capture:0] {json.dumps(head)}\n\t{payload}\n")
    return copy


def layers(path: Path) -> dict[str, dict[str, Any]]:
    result = answer("cache", path, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    validate(document)
    assert not document["is_partial"]
    return {layer["name"]: layer for layer in document["caches"]["other_layers"]}


def test_what_is_not_recorded_is_not_called_a_miss_or_a_hit() -> None:
    told = layers(stored("cache_first"))
    assert all(layer["sentence"] is None for layer in told.values())
    assert all(layer["hits"] is None and layer["misses"] is None for layer in told.values())
    page = answer("cache", stored("cache_first")).stdout
    assert "Not recorded: remote FX graph cache," in " ".join(page.split())
    assert "other caches" not in page


def test_remote_caches_are_counted(tmp_path: Path) -> None:
    told = layers(
        changed(
            tmp_path,
            inductor_fx_remote_cache_hit_count=2,
            inductor_fx_remote_cache_miss_count=1,
            remote_fx_graph_cache_get_time_us=250_000,
            pgo_get_remote_code_state_time_us=40_000,
        )
    )
    assert told[REMOTE_FX]["sentence"] == "2 hits, 1 miss, 250 ms of reading and writing"
    assert told["remote PGO state"]["sentence"] == "40 ms of reading and writing"
    assert (told["remote PGO state"]["hits"], told["remote AOTAutograd cache"]["sentence"]) == (None, None)


def test_seconds_that_local_hits_saved_are_not_taken_for_a_remote_caches(tmp_path: Path) -> None:
    told = layers(changed(tmp_path, remote_cache_time_saved_s=12))
    assert all(layer["sentence"] is None for layer in told.values())


def test_a_remote_cache_that_is_off_is_called_off(tmp_path: Path) -> None:
    def off(head: str, payload: str) -> str:
        return payload.replace('fx_graph_remote_cache": "None"', 'fx_graph_remote_cache": "False"')

    path = edited("cache_first", tmp_path, off)
    assert layers(path)[REMOTE_FX]["switched_off_by"] == "torch._inductor.config.fx_graph_remote_cache"
    assert "Not recorded: remote FX graph cache (off)," in " ".join(answer("cache", path).stdout.split())


def test_triton_kernels_that_came_with_graphs(tmp_path: Path) -> None:
    told = layers(changed(tmp_path, num_triton_bundles=1))["Triton kernels kept with graphs"]
    assert (told["sentence"], told["misses"]) == ("came with 1 graph from the cache", None)


def test_autotuning_is_counted_kernel_by_kernel(tmp_path: Path) -> None:
    kernels = {
        "triton_poi_0": {"autotune_cache_state": "hit", "compile_time_us": 3},
        "triton_poi_1": {"autotune_cache_state": "miss"},
        "triton_poi_2": {"autotune_cache_state": "only 1 config"},
        "triton_poi_3": {"compile_time_us": 9},
    }
    told = layers(with_record(tmp_path, "triton_kernel_info", kernels))[AUTOTUNING]
    assert told["sentence"] == "1 hit, 1 miss, 1 kernel with one configuration, not looked up"


@pytest.mark.parametrize("content", [[], {"kernel": 1}, {"kernel": {"autotune_cache_state": 7}}])
def test_a_list_of_kernels_that_is_none_of_torchs(tmp_path: Path, content: object) -> None:
    path = with_record(tmp_path, "triton_kernel_info", content)
    result = answer("cache", path, "--format", "json")
    assert result.exit_code == 0
    told = {layer["name"]: layer for layer in json.loads(result.stdout)["caches"]["other_layers"]}
    assert told[AUTOTUNING]["sentence"] is None


@pytest.mark.parametrize(
    ("bundle", "sentence"),
    [
        (
            {"action": "saved", "bytes": 150 * 1024, "artifacts": {"inductor": 2, "pgo": 1}, "seconds": 0.5},
            "saved: 2 inductor, 1 pgo, 150.0 kB, 500 ms",
        ),
        ({"action": "saved", "bytes": None, "artifacts": None, "seconds": 0.0}, "saved: nothing to save"),
        (
            {"action": "loaded", "bytes": 8, "artifacts": None, "seconds": 0.1},
            "loaded: torch could not read it",
        ),
    ],
)
def test_bundles(tmp_path: Path, bundle: dict[str, Any], sentence: str) -> None:
    assert layers(with_record(tmp_path, "dynamo_cache_bundle", bundle))[BUNDLES]["sentence"] == sentence


def test_explain_says_that_a_bundle_was_loaded_in_vain(tmp_path: Path) -> None:
    damaged = {"action": "loaded", "bytes": 8, "artifacts": None, "seconds": 0.1}
    path = with_record(tmp_path, "dynamo_cache_bundle", damaged)
    findings = json.loads(answer("explain", path, "--format", "json").stdout)["findings"]
    (cold,) = (finding for finding in findings if finding["kind"] == "cold start")
    assert "torch could not read a bundle of caches that the program loaded" in cold["cause"]

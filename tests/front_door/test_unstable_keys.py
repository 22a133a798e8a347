"""A run that compiled an equal graph twice shows by itself that its key is unstable."""

import json
import re
import shutil
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest

from support.answering import answer
from support.stored import stored

_PART = re.compile(r"\[\w+\] post_grad_custom_post_pass: None")
_MISS = re.compile(r'V[^\n]*"fx_graph_cache_miss"[^\n]*\n(?:\t[^\n]*\n)*')
_OTHER_SETTING = re.compile(r"\[\w+\] inductor_config\[max_fusion_size\]: 64")


def compiled_twice(
    folder: Path, then: str, now: str, *, other_size: bool = False, other_frame: bool = False
) -> Path:
    """The first run, its graph compiled once more; `then` and `now` are texts of a custom pass."""
    copy = folder / "cache_first"
    shutil.copytree(stored("cache_first"), copy)
    for stream in copy.glob("*.log"):
        text = stream.read_text()
        (miss,) = (each for each in _MISS.findall(text) if '"artifact"' in each)
        again = with_pass(miss, now).replace('"frame_compile_id": 0', '"frame_compile_id": 1')
        if other_frame:
            again = again.replace('"frame_id": 0', '"frame_id": 7').replace(
                '"frame_compile_id": 1', '"frame_compile_id": 0'
            )
            assert '"frame_id": 7' in again
        if other_size:
            again, times = _OTHER_SETTING.subn("[other] inductor_config[max_fusion_size]: 32", again)
            assert times == 1
        stream.write_text(text.replace(miss, with_pass(miss, then) + signed(again)))
    return copy


def with_pass(record: str, said: str) -> str:
    changed, times = _PART.subn(f"[{digest_of(said)}] post_grad_custom_post_pass: {said}", record)
    assert times == 1
    changed, times = re.subn(r'"key": "\w+"', f'"key": "f{digest_of(said)}"', changed)
    assert times == 1
    return signed(changed)


def signed(record: str) -> str:
    head, _, payload = record.partition("\n")
    text = "\n".join(line.removeprefix("\t") for line in payload.removesuffix("\n").split("\n"))
    return re.sub(r'(?<="has_payload": ")\w{32}', digest_of(text), head) + "\n" + payload


def digest_of(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def unstable(path: Path) -> list[dict[str, Any]]:
    result = answer("explain", path, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    return [finding for finding in document["findings"] if finding["kind"] == "unstable key"]


ADDRESSES = ("<Pass at 0x7f247cde68e0>", "<Pass at 0x7f247cde70f1>")


def test_an_address_in_a_key_is_named_with_what_it_cost(tmp_path: Path) -> None:
    path = compiled_twice(tmp_path, *ADDRESSES)
    (found,) = unstable(path)
    assert found["cause"] == (
        "the key is unstable, custom pass post_grad_custom_post_pass holds a memory address: "
        "0x7f247cde68e0 → 0x7f247cde70f1; a later start does not find them either"
    )
    assert found["title"].startswith(
        "1 graph was compiled again though the process had compiled the same before"
    )
    assert found["cost"]["lost"]["known"] == "measured"
    assert 40 < found["cost"]["lost"]["seconds"] < 41
    assert found["evidence"]["compile_ids"] == ["0/1"]
    assert answer("cache", path).stdout.startswith("The key is unstable, custom pass")


def test_an_equal_graph_of_another_frame_shows_it_as_well(tmp_path: Path) -> None:
    path = compiled_twice(tmp_path, *ADDRESSES, other_frame=True)
    assert unstable(path)[0]["evidence"]["compile_ids"] == ["7/0"]
    assert answer("cache", path).stdout.startswith("The key is unstable, custom pass")


@pytest.mark.parametrize(
    ("then", "now", "other_size"),
    [
        ("pass of width 64", "pass of width 32", False),  # another pass: the key does what it is for
        (*ADDRESSES, True),  # it would have been compiled anyhow
        (ADDRESSES[0], ADDRESSES[0], False),  # the same key: something else is wrong
    ],
)
def test_what_differs_for_a_reason_is_no_finding(
    tmp_path: Path, then: str, now: str, other_size: bool
) -> None:
    assert unstable(compiled_twice(tmp_path, then, now, other_size=other_size)) == []


def test_a_graph_that_is_compiled_once_is_no_finding() -> None:
    assert unstable(stored("cache_first")) == []

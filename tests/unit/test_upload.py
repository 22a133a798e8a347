"""Uploading to a store: files that grow, stores that fail, and the list that says what arrived."""

import json
from pathlib import Path

import pytest

from dynamo_core.recording.remote import not_arrived
from dynamo_core.shared.names import CALLS_PREFIX, RUN_FILE, STREAM_PREFIX, UPLOAD_LIST_PREFIX, UPLOADER_LOCK
from dynamo_core.upload import Uploader

STREAM, CALLS = f"{STREAM_PREFIX}1_2_0.log", f"{CALLS_PREFIX}1_2_0.bin"


class Store:
    """Keeps files in memory; raises for those whose name has one of the `failing` texts in it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.failing: tuple[str, ...] = ()
        self.written: list[str] = []
        self.is_there = False

    def pipe_file(self, path: str, value: bytes) -> None:
        assert self.is_there
        name = path.removeprefix("there/")
        if any(text in name for text in self.failing):
            raise PermissionError(f"no access to {path}")
        self.files[name] = value
        self.written.append(name)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        assert path == "there" and exist_ok
        self.is_there = True

    def exists(self, path: str) -> bool:
        return path.removeprefix("there/") in self.files


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0  # so that each copy takes a second
        return self.now


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / STREAM).write_bytes(b"one")
    (folder / CALLS).write_bytes(b"\0\1")
    (folder / RUN_FILE).write_bytes(b"{}")
    (folder / UPLOADER_LOCK).write_bytes(b"7")
    (folder / f"{RUN_FILE}.1.part").write_bytes(b"{")
    return folder


def brought(store: Store, folder: Path) -> Path:
    """What a reader finds."""
    folder.mkdir()
    for name, content in store.files.items():
        (folder / name).write_bytes(content)
    return folder


def test_all_files_arrive_and_the_list_says_so(spool: Path, tmp_path: Path) -> None:
    store = Store()
    assert Uploader(spool, store, "there", "host").upload(is_last=True)
    assert set(store.files) == {STREAM, CALLS, RUN_FILE, f"{UPLOAD_LIST_PREFIX}host.json"}
    assert not_arrived(brought(store, tmp_path / "read")) == []


def test_what_does_not_change_is_carried_once_and_counters_by_their_content(spool: Path) -> None:
    store, clock = Store(), Clock()
    uploader = Uploader(spool, store, "there", "host", clock)
    uploader.upload()
    store.written.clear()
    clock.now += 1000
    (spool / CALLS).write_bytes(b"\0\2")
    uploader.upload()
    assert store.written == [CALLS]


def test_a_stream_that_grows_rests_for_a_multiple_of_what_its_copy_took_but_at_last(spool: Path) -> None:
    store, clock = Store(), Clock()
    uploader = Uploader(spool, store, "there", "host", clock)
    uploader.upload()
    (spool / STREAM).write_bytes(b"one two")
    uploader.upload()
    assert store.files[STREAM] == b"one"
    uploader.upload(is_last=True)
    assert store.files[STREAM] == b"one two"


def test_a_file_that_fails_is_named_and_tried_again(spool: Path, tmp_path: Path) -> None:
    store = Store()
    store.failing = (STREAM,)
    uploader = Uploader(spool, store, "there", "host")
    assert not uploader.upload(is_last=True)
    (problem,) = not_arrived(brought(store, tmp_path / "read"))
    assert problem == (
        f"{STREAM} did not arrive whole (0 of 3 bytes: PermissionError: no access to there/{STREAM})"
    )
    store.failing = ()
    assert uploader.upload(is_last=True)
    assert not_arrived(brought(store, tmp_path / "again")) == []


def test_a_file_whose_newer_content_fails_is_named_though_it_is_as_long(spool: Path, tmp_path: Path) -> None:
    store = Store()
    uploader = Uploader(spool, store, "there", "host")
    uploader.upload()
    (spool / CALLS).write_bytes(b"\0\2")
    store.failing = (CALLS,)
    assert not uploader.upload(is_last=True)
    (problem,) = not_arrived(brought(store, tmp_path / "read"))
    assert problem.startswith(f"{CALLS} did not arrive whole (2 of 2 bytes: PermissionError")


def test_a_store_that_takes_nothing_leaves_the_list_here(spool: Path) -> None:
    store = Store()
    store.failing = ("",)
    assert not Uploader(spool, store, "there", "host").upload(is_last=True)
    kept = json.loads((spool / f"{UPLOAD_LIST_PREFIX}host.json").read_text())
    assert store.files == {} and "PermissionError" in kept["files"][STREAM]["error"]


def test_a_pass_that_was_ended_names_what_has_not_arrived(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(BaseException):
        """By an alarm."""

    def hang(path: str, value: bytes) -> None:
        if path.endswith(CALLS):
            raise Ended
        store.files[path] = value

    store = Store()
    monkeypatch.setattr(store, "pipe_file", hang)
    uploader = Uploader(spool, store, "there", "host")
    with pytest.raises(Ended):
        uploader.upload()
    uploader.abort_pass("the store did not answer")
    kept = json.loads((spool / f"{UPLOAD_LIST_PREFIX}host.json").read_text())["files"]
    assert (kept[STREAM]["error"], kept[CALLS]["error"]) == (None, "the store did not answer")


def test_a_host_that_has_not_finished_is_named(spool: Path, tmp_path: Path) -> None:
    store = Store()
    Uploader(spool, store, "there", "host").upload()
    (problem,) = not_arrived(brought(store, tmp_path / "read"))
    assert problem.startswith(f"{UPLOAD_LIST_PREFIX}host.json is not finished")


def test_the_first_word_on_a_run_stays(spool: Path, tmp_path: Path) -> None:
    store = Store()
    store.files[RUN_FILE] = b'{"first": 1}'
    assert Uploader(spool, store, "there", "host").upload(is_last=True)
    assert store.files[RUN_FILE] == b'{"first": 1}'
    assert not_arrived(brought(store, tmp_path / "read")) == []


@pytest.mark.parametrize("content", ["", "[]", '{"files": 3}', '{"files": {"a": 3}}', "[" * 99999])
def test_a_damaged_list_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / f"{UPLOAD_LIST_PREFIX}host.json").write_text(content)
    assert "is damaged" in not_arrived(tmp_path)[0]


def test_a_list_names_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"x" * 9)
    folder = tmp_path / "read"
    folder.mkdir()
    rows = {"../outside": {"size": 9, "arrived": 9, "error": None}}
    (folder / f"{UPLOAD_LIST_PREFIX}h.json").write_text(json.dumps({"files": rows, "finished": True}))
    assert "(0 of 9 bytes)" in not_arrived(folder)[0]

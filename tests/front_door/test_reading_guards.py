"""`dynamo guards` on stored recordings: what each entry demands, and what tells the entries apart."""

import re
from typing import Any

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


def entries(**selectors: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document("guards", stored("recompiling"))["entries"]
    return [entry for entry in found if all(entry[name] == value for name, value in selectors.items())]


def test_counts_and_latency_are_what_torch_wrote() -> None:
    (stream,) = stored("recompiling").glob("*.log")
    text = stream.read_text()
    latencies = [float(number) for number in re.findall(r"Guard latency = ([\d.]+) us", text)]
    assert [entry["latency_us"] for entry in entries()] == latencies
    assert [entry["guard_count"] for entry in entries(name="scale")] == [9, 9, 9, 9]
    assert all(len(entry["guards"]) == entry["guard_count"] for entry in entries())


def test_a_check_has_its_line() -> None:
    first, *_ = entries(name="scale")
    (found,) = [check for check in first["checks"] if check["type"] == "TENSOR_MATCH"]
    assert found["source"] == "L['x']"
    assert found["user_code"] == "return x * factor + 1"
    assert found["place"]["line"] == 8
    tensor = found["tensor"]
    assert (tensor["sizes"], tensor["dtype"], tensor["device"]) == ([4], "float32", "cpu")


def test_what_tells_entries_apart() -> None:
    told = document("guards", stored("recompiling"), "--frame", "scale")
    demands = {
        difference["source"]: [demand for entry in difference["entries"] for demand in entry["demands"]]
        for difference in told["differences"]
    }
    assert {"float32", "float64"} <= set(demands["L['x']"])
    assert "equals 2" in demands["L['factor']"]
    assert set(demands) == {"L['x']", "L['factor']"}
    page = answer("guards", stored("recompiling"), "--frame", "scale").stdout
    assert page.startswith("4 cache entries\n")
    assert "[0/0] [0/1]  equals 2" in page.split("How they differ", 1)[1]


def test_all_lists_what_is_otherwise_counted() -> None:
    short = answer("guards", stored("toy"), "--compile-id", "0/0").stdout
    assert "Not listed without --all" in short
    assert "no hooks on saved tensors" not in short
    whole = answer("guards", stored("toy"), "--compile-id", "0/0", "--all").stdout
    assert "Not listed" not in whole
    assert "no hooks on saved tensors" in whole
    assert "[1/0]" not in whole


def test_a_plain_trace_has_the_same_checks_and_no_guards() -> None:
    foreign = document("guards", plain("recompiling"))["entries"]
    assert {entry["guards"] for entry in foreign} == {None}
    for what in ("compile_id", "guard_count"):
        assert [entry[what] for entry in foreign] == [entry[what] for entry in entries()]
    for ours, theirs in zip(entries(), foreign, strict=True):
        assert without_places(theirs["checks"]) == without_places(ours["checks"])


def without_places(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """torch shortens the path of a file; only our own records have it whole."""
    return [{name: value for name, value in check.items() if name != "place"} for check in checks]

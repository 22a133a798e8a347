"""Records that stay in a bundle: which, with what of them, and what is counted as left out."""

import json
from typing import Any

import pytest

from dynamo_core.bundle.placeholders import Placeholders
from dynamo_core.bundle.records import Records
from dynamo_core.bundle.texts import Texts
from dynamo_core.recording.trace_format import Record, RecordParser
from dynamo_core.shared import names
from support.trace_bytes import FRAME, artifact, record


@pytest.fixture
def records() -> Records:
    return Records(Texts(Placeholders()))


def kept(records: Records, *data: bytes) -> list[Record]:
    """What a reader makes of what stays of these records."""
    parser = RecordParser()
    found = [*parser.feed(b"".join(records.stream(iter(data)))), parser.finish()]
    assert parser.damaged == 0
    return [each for each in found if each is not None]


def metrics(records: Records, **fields: Any) -> dict[str, Any]:
    (only,) = kept(records, record({"compilation_metrics": fields, **FRAME}))
    found = only.metadata["compilation_metrics"]
    assert isinstance(found, dict)
    return found


def test_numbers_and_switches_of_metrics_stay_and_unknown_texts_go(records: Records) -> None:
    told = {"guard_count": 3, "duration_us": 1.5, "is_forward": True, "fail_type": None}
    assert metrics(records, **told, graph_name="zircon", Odd=1, x=1) == told


def test_known_texts_of_metrics_lose_what_is_the_users(records: Records) -> None:
    found = metrics(records, co_name="zircon", co_filename="/home/mallory/zircon.py", compile_id="0/1")
    assert found["compile_id"] == "0/1"
    assert "zircon" not in found["co_name"] and "mallory" not in found["co_filename"]


def test_of_torchs_settings_the_switches_of_dynamic_stay_as_switches(records: Records) -> None:
    config = {"assume_static_by_default": True, "automatic_dynamic_shapes": "yes", "cache_size_limit": 8}
    found = json.loads(metrics(records, dynamo_config=json.dumps(config))["dynamo_config"])
    assert found == {"assume_static_by_default": True, "automatic_dynamic_shapes": False}
    assert json.loads(metrics(records, dynamo_config="{}")["dynamo_config"]) == {}


def test_a_record_keeps_the_numbers_of_its_compile_and_nothing_else_of_its_first_line(
    records: Records,
) -> None:
    ids = {**FRAME, "rank": 2, "compiled_autograd_id": 1, "owner": "mallory", "attempt": "one"}
    (only,) = kept(records, record({"dynamo_output_graph": {"sizes": {}}, **ids}, "x"))
    numbers = {key: value for key, value in only.metadata.items() if key != "has_payload"}
    assert numbers == {
        "dynamo_output_graph": {"sizes": {}},
        "frame_id": 0,
        "frame_compile_id": 0,
        "rank": 2,
        "compiled_autograd_id": 1,
    }


def test_an_event_keeps_its_times_its_switches_and_the_arguments_that_are_known(records: Records) -> None:
    event = {
        "name": "dynamo",
        "ph": "X",
        "ts": 1.5,
        "pid": 3,
        "tid": "main",
        "cat": "mallory",
        "args": {"fn_name": "zircon", "is_backward": True, "secret": "mallory", "count": 3},
    }
    (only,) = kept(records, record({"chromium_event": {}, **FRAME}, json.dumps(event)))
    found = only.json_payload()
    assert (found["ph"], found["ts"], found["pid"]) == ("i", 1.5, 3)
    assert "tid" not in found and "cat" not in found
    assert set(found["args"]) == {"fn_name", "is_backward"} and found["args"]["is_backward"] is True
    (begin,) = kept(records, record({"chromium_event": {}}, json.dumps({"name": "dynamo", "ph": "B"})))
    assert begin.json_payload() == {"name": "dynamo", "ph": "B", "args": {}}


def test_what_is_not_known_is_left_out_and_counted_by_torchs_names_alone(records: Records) -> None:
    assert (
        kept(
            records,
            artifact("inductor_output_code", "zircon"),
            artifact("inductor_output_code", "zircon"),
            artifact("zircon_of_mallory", "x"),
            record({"describe_tensor": {}}),
        )
        == []
    )
    counts = {name: count for name, count in records.left_out.items() if count}
    assert counts["inductor_output_code"] == 2
    assert sum(counts.values()) == 4 and not any("zircon" in name for name in counts)


def test_damage_is_counted_whether_it_is_of_the_stream_or_of_a_record(records: Records) -> None:
    broken = record({"chromium_event": {}}, "no JSON")
    assert kept(records, broken, b"no record\n", record({"str": ["/x.py", 0]})) != []
    assert records.left_out["damaged records"] == 2


def test_a_text_of_torchs_loses_torchs_own_traceback(records: Records) -> None:
    text = "Graph break\nTraceback (most recent call last):\n  mallory"
    (only,) = kept(records, record({"dynamo_graph_break_reason": {}, **FRAME}, text))
    assert only.payload() == "Graph break"


def test_of_a_cache_the_look_up_stays_without_its_key(records: Records) -> None:
    (only,) = kept(records, artifact("fx_graph_cache_miss", {"key": "zircon"}))
    assert (only.artifact_name, only.payload()) == ("fx_graph_cache_miss", None)


def test_lists_of_our_records_stand_behind_the_first_line_as_they_did(records: Records) -> None:
    graph = {"graph": 1, "name": "zircon", "backend": "eager", "ops": 2, "nodes": []}
    (only,) = kept(records, artifact(names.FX_GRAPH, graph))
    first, _, rest = (only.payload() or "").partition("\n")
    assert json.loads(first.removesuffix(",") + "}")["ops"] == 2
    assert json.loads("{" + rest) == {"nodes": []}
    (plain,) = kept(records, artifact(names.BACKWARD_COMPILED, {"calls_index": 1}))
    assert plain.payload() == '{"calls_index": 1}'


def test_bytecode_keeps_opcodes_offsets_and_the_form_of_its_source(records: Records) -> None:
    row = [2, "LOAD_CONST", "'zircon'", 7, None]
    odd = [4, "zircon", "gneiss", None, 6]
    content = {
        "name": "zircon",
        "source": {"7": "zircon = 31.25", "x": "mallory"},
        "original": [row, odd],
        "first_line": 7,
    }
    found = records.our_content(names.BYTECODE, content)
    assert list(found) == list(content)
    assert found["original"][0] == [2, "LOAD_CONST", "'text1'", 7, None]
    assert found["original"][1][0] == 4 and found["original"][1][3:] == [None, 6]
    assert list(found["source"]) == ["7"] and found["source"]["7"].endswith(" = N")
    assert "zircon" not in json.dumps(found) and "gneiss" not in json.dumps(found)


def test_an_environment_keeps_the_variables_that_are_recorded_and_their_shortest_values(
    records: Records,
) -> None:
    environment = {"TORCH_COMPILE_DISABLE": "1", "TORCH_HOME": "/home/mallory", "MALLORY": "1"}
    found = records.our_content(names.PROCESS_START, {"environment": environment})["environment"]
    assert found["TORCH_COMPILE_DISABLE"] == "1" and "MALLORY" not in found
    assert "mallory" not in found["TORCH_HOME"]


def test_a_program_behind_m_is_a_module_in_a_command_and_versions_are_as_they_are(records: Records) -> None:
    known = {"argv": ["python", "-m", "zircon.train"], "torch": "2.13.0+cpu", "python": "3.11; mallory"}
    found = records.our_content(names.PROCESS_START, known)
    assert "zircon" not in found["argv"][2] and "." in found["argv"][2]
    plain = records.our_content(
        names.PROCESS_START, {"argv": ["zircon.train"], "notes": ["-m", "zircon.train"]}
    )
    assert found["argv"][2] != plain["argv"][0] == plain["notes"][1]
    assert found["torch"] == "2.13.0+cpu" and "mallory" not in found["python"]


def test_settings_of_torchs_keep_switches_and_lose_texts(records: Records) -> None:
    settings = {"torch._inductor.config": {"max_fusion_size": "64", "debug": "True", "a": "None"}}
    found = records.our_content(names.PROCESS_STATE, {"torch_config": settings})["torch_config"]
    (values,) = found.values()
    assert list(values.values())[1:] == ["True", "None"] and "64" not in values.values()


TORCHS = "/home/mallory/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"
TORCHS_LINE = "return F.linear(input, self.weight, self.bias)  # 1"


@pytest.mark.parametrize(
    ("path", "stays"),
    [
        (TORCHS, True),
        ("/home/mallory/torch/nn/modules/linear.py", False),
        ("/x/site-packages/torch/../../mine.py", False),
        ("/x/site-packages/torchwood/a.py", False),
        ("/x/site-packages/transformers/a.py", False),
    ],
)
def test_a_line_of_torchs_own_is_no_secret(path: str, stays: bool, records: Records) -> None:
    """In stacks of ours and of torch's, in the text of graphs, and beside bytecode."""
    at = {"file": path, "line": 134, "function": "forward", "text": TORCHS_LINE}
    (ours,) = kept(records, artifact(names.GRAPH_BREAK, {"user_stack": [at]}))
    numbered = {"line": 134, "name": "forward", "filename": 3, "loc": TORCHS_LINE}
    start = record({"dynamo_start": {"stack": [numbered]}, **FRAME})
    _, torchs = kept(records, record({"str": [path, 3]}), start)
    graph = f"        # File: {path}:134 in forward, code: {TORCHS_LINE}"
    stack = f'  File "{path}", line 134, in forward\n    {TORCHS_LINE}'
    texts = record({"dynamo_output_graph": {}, **FRAME}, f"{graph}\n{stack}\nzircon")
    (text,) = kept(records, texts)
    code = records.our_content(names.BYTECODE, {"file": path, "source": {"134": TORCHS_LINE}})
    shown = [ours.payload(), json.dumps(torchs.metadata), json.dumps(code)]
    assert [TORCHS_LINE in (each or "") for each in shown] == [stays] * 3
    assert (text.payload() or "").count(TORCHS_LINE) == (2 if stays else 0)
    assert "zircon" not in (text.payload() or "") and "mallory" not in str([*shown, text.payload()])

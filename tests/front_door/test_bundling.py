"""`dynamo bundle` on stored recordings: what is in it, and that it reads the same without source."""

import base64
import gzip
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.answering import answer
from support.cases import one_in
from support.documents import document
from support.stored import NAMES, edited, plain, stored

PROGRAM = Path(__file__).parents[1] / "integration/programs/planted.py"
# What the program, its command line, its folders and its environment have planted in the recording.
_PLANTED = """
    QuarryFoxCorp mallory quux QUARRY_ACCOUNT acct-quarry-0001 _PRICE_OF_ZIRCON 31415.92653
    4929123456781234 zircon velvet hammer 5550199 ZirconPricing gneiss_projection basalt_norm Ottokar
    Feldspat marble_offsets 0.123456789 shale_input granite_flag quartzite 271828 obsidian-secret
    customer_tag pumice 9988776 tuffstein dolomite_helper Kalkstein travertine sandstone_loss granodiorite
    feldspar_rate amphibolite olivine_key pyroxene_failure augite Hornblende 77001122 0.5772156649
    1.4142135623 rhyolite-secret scoria-logs Waltraud Kieselgur lava_project ignimbrite_train perlite
    andesite-cache Trachyt porphyry 55667788 latite_run overdraft licensed forecast
    """
PLANTED = _PLANTED.split()


def bundled(target: Path, folder: Path, *options: str) -> Path:
    bundle = folder / "issue.zip"
    result = answer("bundle", target, *options, "-o", bundle)
    assert (result.exit_code, result.stderr) == (0, "")
    return bundle


def contents(bundle: Path) -> dict[str, str]:
    """The text of each file, with what is packed in the page unpacked."""
    with zipfile.ZipFile(bundle) as archive:
        files = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    packed = re.findall(r">(H4sI[\w+/=]+)<", files["report.html"])
    assert packed
    files["report.html"] = re.sub(r">H4sI[\w+/=]+<", "><", files["report.html"])
    for number, block in enumerate(packed):
        files[f"report.html {number}"] = gzip.decompress(base64.b64decode(block)).decode()
    return files


def compared(finding: dict[str, Any]) -> tuple[Any, ...]:
    """What a finding says, but for names and places, and for what is read of the profiled window alone.

    The window's trace has names of the user's, and is left out: what an optimizer takes is then unknown.
    """
    remedies = [(remedy["kind"], remedy.get("proven")) for remedy in finding["remedies"]]
    cost = None if finding["kind"] == "eager optimizer" else finding["cost"]
    return finding["kind"], cost, remedies, finding["place"] and finding["place"]["line"]


@pytest.mark.parametrize("name", one_in(8, [*NAMES, "plain recompiling"]))
def test_without_source_the_findings_are_the_same(name: str, tmp_path: Path) -> None:
    path = plain("recompiling") if name.startswith("plain") else stored(name)
    told = document("explain", path)
    again = document("explain", bundled(path, tmp_path, "--without-source"))
    assert list(map(compared, again["findings"])) == list(map(compared, told["findings"]))
    assert again["summary"] == told["summary"]


def lines_of_torchs(stream: str) -> set[str]:
    """The lines of torch's own files in a stream: only of frames that name their file, or its number."""
    files = {number: path for path, number in re.findall(r'"str": \["([^"]*)", (\d+)\]', stream)}
    found = set()
    for flat in re.findall(r'\{(?:"(?:\\.|[^"\\])*"|[^{}"])*\}', stream):
        file = re.search(r'"(?:file|filename)": "?([^",}]*)', flat)
        text = re.search(r'"(?:text|loc)": ("(?:\\.|[^"\\])*")', flat)
        path = None if file is None else str(files.get(file[1], file[1]))
        if path and text and "/site-packages/torch/" in path:
            found.add(json.loads(text[1]).strip())
    return found


@pytest.mark.parametrize("name", one_in(6, NAMES[1:]))
def test_no_line_of_the_programs_source_is_in_it(name: str, tmp_path: Path) -> None:
    lines = set()
    for process in json.loads(answer("bytecode", stored(name), "--format", "json").stdout)["frames"]:
        lines |= {text.strip() for text in re.findall(r'"text": "((?:\\.|[^"\\])*)"', json.dumps(process))}
    torchs: set[str] = set()
    for file in stored(name).glob("*.log"):
        stream = file.read_text(encoding="utf-8")
        texts = re.findall(r'"(?:text|loc)": ("(?:\\.|[^"\\])*")', stream)
        lines |= {json.loads(text).strip() for text in texts}
        torchs |= lines_of_torchs(stream)
    told = "\n".join(contents(bundled(stored(name), tmp_path, "--without-source")).values())
    told = told.replace("\\n", "\n").replace('\\"', '"')
    words = re.compile(r"[^\W\d]\w*")
    said = {line for line in lines if len(words.findall(line)) > 1}
    written = {line.strip() for line in told.split("\n")} | set(
        re.findall(r'"(?:text|loc)": "([^"]*)"', told)
    )
    assert lines or name in ("exported", "forks", "verified")
    assert not (said - torchs) & written


def test_nothing_planted_is_in_it(tmp_path: Path) -> None:
    assert len(PLANTED) >= 50
    files = contents(bundled(stored("planted"), tmp_path, "--without-source"))
    found = [
        (planted, name)
        for name, text in files.items()
        for planted in PLANTED
        if planted.lower() in text.lower() or planted.lower() in name.lower()
    ]
    assert found == []
    lines = {line.strip() for line in PROGRAM.read_text(encoding="utf-8").split("\n")}
    whole = {line for line in lines if len(line) > 15 and not line.startswith(("import ", "if __name__"))}
    assert [line for line in whole for text in files.values() if line in text] == []


def test_short_constants_and_a_file_named_like_a_word_of_torchs_are_not_in_it(tmp_path: Path) -> None:
    constants = {
        "0.123456789": "0.12345",
        "31415.92653": "31.4",
        "271828.1828": "2.7e3",
        "0.5772156649": "0.57",
    }

    def shortened(_: str, payload: str) -> str:
        for long, short in constants.items():
            payload = payload.replace(long, short)
        return payload

    path = edited("planted", tmp_path, shortened)
    run_file = path / "dynamo_run.json"
    run = json.loads(run_file.read_text())
    run |= {"program": "train", "command": ["python", "train.py", "-m", "utils.data"]}
    run_file.write_text(json.dumps(run))
    with_source = "\n".join(contents(bundled(path, tmp_path)).values())
    short = [re.compile(rf"(?<![\d.]){re.escape(text)}(?!\d)") for text in constants.values()]
    assert all(each.search(with_source) for each in short)
    files = contents(bundled(path, tmp_path, "--without-source"))
    assert [(name, each.pattern) for name, text in files.items() for each in short if each.search(text)] == []
    told = json.loads(files["recording/dynamo_run.json"])
    assert "train" not in json.dumps(told) and "utils" not in json.dumps(told)
    assert told["command"][1] == f"{told['program']}.py"


def test_with_source_everything_planted_that_was_recorded_is_in_it(tmp_path: Path) -> None:
    """So that the test above can fail."""
    told = "\n".join(contents(bundled(stored("planted"), tmp_path)).values()).lower()
    assert sum(planted.lower() in told for planted in PLANTED) >= 50


def test_the_list_of_what_was_replaced_is_beside_it(tmp_path: Path) -> None:
    bundle = bundled(stored("planted"), tmp_path, "--without-source")
    beside = tmp_path / "issue.zip.replaced.json"
    assert beside.stat().st_mode & 0o077 == 0
    originals = json.loads(beside.read_text())
    assert "ZirconPricing" in originals["name"].values()
    assert "Waltraud Kieselgur" in originals["folder"].values()
    files = contents(bundle)
    assert not any("replaced.json" in name for name in files)
    assert "placeholders" in files["README.txt"]


def test_structure_graphs_breaks_and_guards_stay_readable(tmp_path: Path) -> None:
    bundle = bundled(stored("planted"), tmp_path, "--without-source")
    graphs = answer("graphs", bundle).stdout
    assert re.search(r"self\.name\d+\.weight", graphs) and "torch._C._nn.linear" in graphs
    breaks = answer("breaks", bundle).stdout
    assert "Failed to trace builtin operator" in breaks and "Call to `torch._dynamo.graph_break()`" in breaks
    guards = answer("guards", bundle).stdout
    assert "size=[8, 8]" in guards or "f32[8, 8]" in guards or "TENSOR_MATCH" in guards
    recompiles = answer("recompiles", bundle).stdout
    assert "at dimension 0" in recompiles


def test_the_same_recording_gives_the_same_bytes(tmp_path: Path) -> None:
    for options in ((), ("--without-source",)):
        first = bundled(stored("toy"), tmp_path, *options).read_bytes()
        assert bundled(stored("toy"), tmp_path, *options).read_bytes() == first


def test_a_bundle_of_a_bundle(tmp_path: Path) -> None:
    whole = bundled(stored("toy"), tmp_path)
    assert document("explain", whole)["findings"] == document("explain", stored("toy"))["findings"]
    copy = tmp_path / "whole.zip"
    whole.rename(copy)
    again = bundled(copy, tmp_path, "--without-source")
    kinds = [each["kind"] for each in document("explain", again)["findings"]]
    assert kinds == [each["kind"] for each in document("explain", copy)["findings"]] and kinds


def test_a_trace_that_is_not_ours(tmp_path: Path) -> None:
    (stream,) = plain("recompiling").glob("*.log")
    mine = tmp_path / "quarry of mallory.log"
    shutil.copy(stream, mine)
    bundle = bundled(mine, tmp_path, "--without-source")
    assert not any("mallory" in name for name in contents(bundle))
    assert answer("explain", bundle).exit_code == 0


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


STREAM = "recording/dedicated_log_torch_trace_1.log"


@pytest.mark.parametrize(
    "members, code, said",
    [
        ({"x.txt": b"1"}, 121, "no recording in it"),
        ({"recording/../../evil.log": b"1"}, 122, "files that no recording has"),
        ({"recording/a/b.log": b"1"}, 122, "files that no recording has"),
        ({"recording/.log\n": b"1"}, 122, "files that no recording has"),
        (
            {STREAM: b"1", STREAM.upper().replace("RECORDING", "recording"): b"1"},
            122,
            "files that no recording has",
        ),
        ({STREAM: b"\0" * (300 << 20)}, 122, "more than a recording ever is"),
        ({STREAM: b"nothing"}, 121, "no record of a torch trace"),
    ],
    ids=["empty", "up", "folders", "odd", "twice", "bomb", "no records"],
)
def test_a_strangers_zip_file(members: dict[str, bytes], code: int, said: str, tmp_path: Path) -> None:
    result = answer("explain", zipped(tmp_path / "strange.zip", members))
    assert result.exit_code == code
    assert said in result.stderr and result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("**/evil.log"))


def test_a_list_of_a_million_files_is_not_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "many.zip", {f"recording/{n}.log": b"" for n in range(20_000)})
    result = answer("explain", path)
    assert (result.exit_code, "lists more files than" in result.stderr) == (122, True)


@pytest.mark.parametrize("cut", [10, 1000, -30])
def test_a_damaged_zip_file(cut: int, tmp_path: Path) -> None:
    bundle = bundled(stored("toy"), tmp_path)
    bundle.write_bytes(bundle.read_bytes()[:cut])
    result = answer("explain", bundle)
    assert result.exit_code == 122
    assert "damaged, or no zip file of ours" in result.stderr


def test_what_is_no_recording_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    result = answer("bundle", tmp_path / "notes.txt", "-o", tmp_path / "out.zip")
    assert result.exit_code == 121
    assert not (tmp_path / "out.zip").exists()
    assert answer("bundle", stored("toy"), "-o", tmp_path / "no" / "out.zip").exit_code == 120

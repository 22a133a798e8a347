"""`dynamo check` on stored recordings: the lock file, its verdicts and exit codes, and what CI is told."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dynamo_cli import check_command
from dynamo_core.launch.process import Ending
from support.answering import Result, answer
from support.schemas import validate
from support.stored import edited, plain, stored

Check = Callable[..., Result]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """`check(...)` runs `dynamo check ...` on the stored toy, with a lock file in the test's folder."""

    def run(*options: str | Path, target: Path | None = None, **env: str) -> Result:
        return answer("check", *options, target or stored("toy"), cwd=tmp_path, env=env)

    return run


@pytest.fixture
def lock(check: Check, tmp_path: Path) -> Path:
    """The lock file, with the toy as it is."""
    assert check("--update").exit_code == 0
    return tmp_path / "dynamo.lock"


def test_without_a_lock_there_is_nothing_to_compare(check: Check) -> None:
    result = check()
    assert (result.exit_code, result.stderr.count("\n")) == (110, 1)
    assert "`dynamo check --update` accepts what is there now" in result.stderr


def test_what_was_accepted_is_as_it_was(check: Check, lock: Path) -> None:
    text = lock.read_text()
    assert '["toy_example"]' in text
    assert "graph-breaks = 1\n" in text
    assert "if b.sum() < 0:" in text
    assert str(stored("toy").parent) not in text
    result = check()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("toy_example: unchanged\n")
    again = check("--update")
    assert (again.exit_code, "5 facts written" in again.stdout) == (0, True)
    assert lock.read_text() == text


def test_accepting_says_how_much_was_written_and_where(check: Check, tmp_path: Path) -> None:
    result = check("--update")
    facts = [line for line in (tmp_path / "dynamo.lock").read_text().splitlines() if " = " in line]
    written = len(facts) - len(["version = 1"])
    assert result.stdout.startswith(f"toy_example: accepted, {written} facts written\n")
    said = (
        f"dynamo: {written} facts of toy_example written to dynamo.lock: commit it, and `dynamo check` fails"
    )
    assert result.stderr == f"{said} where they get worse\n"


def test_worse_names_what_came_where_and_what_to_do(check: Check, lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("findings.")]
    lock.write_text("\n".join(lines).replace("graphs = 3", "graphs = 1") + "\n")
    result = check()
    assert result.exit_code == 112
    assert result.stdout.startswith("toy_example: worse, 1 finding\n"), "the count comes of it"
    at = "/home/user/project/toy_example.py:8"
    said = f"got worse: new: graph break in toy_example.py toy_example: if b.sum() < 0: ({at})"
    assert said in result.stderr
    assert ", and " not in result.stderr  # the count is of that finding
    assert "--runs 3" not in result.stderr, "a break is in every run"
    assert "new: graph break in toy_example.py toy_example: if b.sum() < 0:" in result.stdout
    assert "→ " in result.stdout
    # Not below the finding, as if the count was a part of it.
    assert result.stdout.index("- graphs: 1 → 3") < result.stdout.index("new: graph break")
    assert "--allow graph-break-" in result.stdout
    document = json.loads(check("--format", "json").stdout)
    validate(document)
    new, graphs = document["differences"]
    assert (new["direction"], new["finding"]["kind"], graphs["finding"]) == ("worse", "graph break", None)


def test_better_passes_but_for_exact(check: Check, lock: Path) -> None:
    lock.write_text(lock.read_text().replace("graphs = 3", "graphs = 4"))
    assert (check().exit_code, check("--exact").exit_code) == (0, 111)
    assert "graphs: 4 → 3" in check().stdout
    assert "`dynamo check --update` keeps it so" in check().stderr


def test_where_counts_alone_are_worse_it_may_vary(check: Check, lock: Path) -> None:
    lock.write_text(lock.read_text().replace("graphs = 3", "graphs = 2"))
    result = check()
    assert result.exit_code == 112
    assert result.stderr.endswith(
        "graphs: 2 → 3; where it varies, `--update --runs 3` notes that, more runs more of it\n"
    )


def test_bounds_on_the_command_line_and_in_pyproject(check: Check, tmp_path: Path) -> None:
    assert check("--max-graph-breaks", "1").exit_code == 0
    worse = check("--max-graph-breaks", "0")
    assert worse.exit_code == 112
    assert "The command fails with exit code 112." in worse.stdout
    identity = worse.stdout.partition("--allow ")[2].split()[0]
    assert check("--max-graph-breaks", "0", "--allow", identity).exit_code == 0
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.dynamo.check]\nmax-graphs = 1\n")
    assert check().exit_code == 112
    assert check("--max-graphs", "3").exit_code == 0
    project.write_text(f'[tool.dynamo.check]\nmax-graph-breaks = 0\nallow = ["{identity}"]\n')
    assert check().exit_code == 0


def test_a_program_that_the_lock_does_not_have_is_told_of_those_that_it_has(check: Check, lock: Path) -> None:
    result = check("--name", "another")
    assert result.exit_code == 110
    assert "has no 'another' (it has toy_example; --name says which is meant)" in result.stderr


def test_entries_of_other_programs_stay(check: Check, lock: Path) -> None:
    before = lock.read_text()
    assert check("--update", "--name", "training", target=stored("training")).exit_code == 0
    both = lock.read_text()
    assert '["toy_example"]' in both
    assert '["training"]' in both
    assert set(before.splitlines()) <= set(both.splitlines())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("version = 2\n", "has version 2, this dynamo reads 1"),
        ('version = 1\n<<<<<<< ours\n["p"]\n', "dynamo.lock:2: a merge is not resolved"),
        ("version = \n", "is no TOML"),
        ('version = 1\n["p"]\ngraphs = "many"\n', "a count that is no number"),
        ('version = 1\n["p"]\ngrahps = 1\n', "'grahps'"),
        ('version = 1\n["p"]\nfindings.x = 1\n', "is not [kind, file, function, line, cause]"),
        ("version = 1\np = 1\n", "is no table"),
    ],
)
def test_a_damaged_lock_is_one_line(content: str, says: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "dynamo.lock").write_text(content)
    for options in ((), ("--update",)):
        result = check(*options)
        assert (result.exit_code, result.stderr.count("\n")) == (109, 1)
        assert says in result.stderr
    assert (tmp_path / "dynamo.lock").read_text() == content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[tool.dynamo.check]\nmax-breaks = 0\n", "'max-breaks', which is not known"),
        ("[tool.dynamo]\nbakcend = 1\n", "'bakcend', which is not known"),
        ("[tool.dynamo.check]\nmax-graphs = -1\n", "max-graphs is not a number"),
        ('[tool.dynamo.check]\nallow = "x"\n', "allow is not a list"),
        ("[tool.dynamo.check]\nprograms = 1\n", "is no table"),
    ],
)
def test_unknown_settings_are_errors(content: str, says: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(content)
    result = check()
    assert (result.exit_code, says in result.stderr) == (109, True), result.stderr


def test_a_program_that_did_not_end_well_is_not_accepted(check: Check, tmp_path: Path) -> None:
    result = check("--update", target=stored("killed"))
    assert (result.exit_code, "did not end well" in result.stderr) == (109, True)
    assert not (tmp_path / "dynamo.lock").exists()


def test_a_recording_that_lacks_its_end_is_not_accepted(check: Check, tmp_path: Path) -> None:
    cut = edited("toy", tmp_path, lambda head, payload: "" if '"dynamo_process_end"' in head else payload)
    result = check("--update", target=cut)
    assert (result.exit_code, "or not all was recorded" in result.stderr) == (109, True)
    assert not (tmp_path / "dynamo.lock").exists()


def test_a_trace_of_torchs_own_is_compared_as_far_as_it_goes(check: Check, lock: Path) -> None:
    result = check("--name", "toy_example", target=plain("toy"))
    assert "Not compared, as one side did not record it: frames-run-eager." in result.stdout


def test_github_is_told_at_the_line(check: Check, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    result = check("--max-graph-breaks", "0", "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert result.exit_code == 112
    (error,) = [line for line in result.stdout.splitlines() if "toy_example.py" in line]
    assert error.startswith("::error title=dynamo check%3A graph break,file=")
    assert ",line=8::" in error
    assert "toy\\_example: worse" in summary.read_text() or "toy_example: worse" in summary.read_text()


def test_sarif_has_identities_as_fingerprints(check: Check) -> None:
    log = json.loads(check("--max-graph-breaks", "0", "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    _, result = log["runs"][0]["results"]
    assert result["partialFingerprints"]["dynamo/v1"].startswith("graph-break-")
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 8}


def test_junit_has_a_failure_a_success_or_a_skip(check: Check, tmp_path: Path) -> None:
    assert check("--max-graph-breaks", "0", "-o", "out.xml").exit_code == 112
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (suite.get("failures"), len(suite.findall("testcase/failure"))) == ("1", 1)
    passed = ElementTree.fromstring(check("--max-graphs", "9", "--format", "junit").stdout)
    assert (passed.get("failures"), passed.get("skipped")) == ("0", "0")
    skipped = ElementTree.fromstring(check("--format", "junit").stdout)
    assert len(skipped.findall("testcase/skipped")) == 1


def test_a_recording_of_a_program_that_failed_is_no_all_clear(check: Check) -> None:
    result = check("--max-graph-breaks", "100", target=stored("killed"))
    assert (result.exit_code, result.stderr.count("\n")) == (110, 1)
    assert "did not end well" in result.stderr


@pytest.mark.parametrize("name", ["version", "\udcff"])
def test_a_name_that_toml_cannot_hold_harms_no_lock_file(name: str, check: Check, lock: Path) -> None:
    text = lock.read_text()
    result = check("--update", "--name", name)
    assert result.exit_code == (109 if name == "version" else 0)
    assert (lock.read_text() == text) == (name == "version")
    assert check().exit_code == 0


def test_a_number_too_long_to_read_is_said(check: Check, lock: Path) -> None:
    lock.write_text(f"version = {'1' * 5000}\n")
    assert check().exit_code == 109


def test_a_bound_on_what_was_not_recorded_does_not_hold(check: Check) -> None:
    result = check("--max-frames-run-eager", "0", target=plain("toy"))
    assert (result.exit_code, "has a bound, and was not recorded" in result.stderr) == (110, True)


def test_without_a_target_the_recording_is_named(tmp_path: Path) -> None:
    shutil.copytree(stored("toy"), tmp_path / ".dynamo" / "toy")
    result = answer("check", "--max-graphs", "9", cwd=tmp_path)
    assert result.exit_code == 0
    assert result.stderr == ("dynamo: no program is named: this checks the newest recording, .dynamo/toy\n")


def test_runs_are_of_a_program(check: Check, tmp_path: Path) -> None:
    result = check("--runs", "3")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--runs runs a program that is named" in result.stderr
    (tmp_path / "program.py").touch()
    result = check("--runs", "3", "--recording", "r", target=tmp_path / "program.py")
    assert (result.exit_code, "--runs makes several" in result.stderr) == (2, True)


@pytest.fixture
def in_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A program of which each run leaves another stored recording."""
    left = iter([stored("toy"), stored("training"), stored("toy")])
    monkeypatch.setattr(
        check_command, "target_recording", lambda *_, **options: (next(left), Ending(0, None))
    )
    (tmp_path / "program.py").touch()
    return tmp_path / "program.py"


def test_what_differs_from_run_to_run_is_neither_better_nor_worse(check: Check, in_turn: Path) -> None:
    result = check("--runs", "3", "--format", "json", target=in_turn)
    assert result.exit_code == 110
    assert "program.py differs from run to run: graphs: " in result.stderr.splitlines()[-1]
    document = json.loads(result.stdout)
    validate(document)
    assert {each["direction"] for each in document["differences"]} == {"differs from run to run"}
    assert any(
        each["text"].startswith("in 2 of 3 runs: graph break in toy") for each in document["differences"]
    )


def test_what_differs_is_noted_and_not_compared_later(
    check: Check, in_turn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = check("--runs", "3", "--update", target=in_turn)
    assert accepted.exit_code == 0, accepted.stderr
    assert "noted to differ from run to run" in accepted.stderr
    monkeypatch.undo()
    for name in ("toy", "training"):
        result = check("--name", "program.py", target=stored(name))
        assert result.exit_code == 0, result.stderr
        assert "Not compared, as it is noted to differ from run to run: graphs, " in result.stdout

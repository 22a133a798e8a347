"""`dynamo export`, on a stored recording of sample_scripts/modules_to_export.py."""

from pathlib import Path

from dynamo_core.exports.modules import wait_for_trials
from support.answering import answer
from support.documents import document
from support.stored import stored


def test_each_module_has_its_verdict_and_its_first_obstacle_at_the_users_line() -> None:
    encoder, gate, pool = document("export", stored("exported"))["modules"]
    assert [each["verdict"] for each in (encoder, gate, pool)] == [
        "exports",
        "does not export",
        "exports for some calls",
    ]
    assert encoder["obstacles"] == []
    assert encoder["dynamic_shapes"] == "{'tokens': {0: Dim.DYNAMIC}, 'mask': {0: Dim.DYNAMIC}}"
    assert {each["sizes"] for each in encoder["compared"]} == {
        f"tokens [{batch}, 10], mask [{batch}, 10]" for batch in (4, 8, 6)
    }
    (branch,) = gate["obstacles"]
    assert (branch["place"]["line"], branch["source"]) == (24, "if hidden.sum() > 0:")
    assert branch["met_by"] == ["export", "strict", "draft", "compile"]
    assert "torch.where(hidden.sum() > 0, then, else)" in branch["remedies"][0]
    (size,) = pool["obstacles"]
    assert size["place"]["line"] == 31  # which torch names for strict=True alone
    assert "to be a constant (4)" in size["words"]


def test_the_page_names_no_dynamic_sizes_where_none_could_be() -> None:
    page = answer("export", stored("exported"), "--format", "markdown").stdout
    pool = page[page.index("## Pool") :]
    assert "export(" in pool and "dynamic_shapes" not in pool
    assert "dynamic_shapes={'tokens'" in page


def test_a_recording_without_trials_is_one_line() -> None:
    result = answer("export", stored("toy"))
    assert (result.exit_code, result.stdout) == (121, "")
    assert "is no recording of `dynamo export`; name the program instead" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_bundle_which_leaves_the_trials_out_says_so(tmp_path: Path) -> None:
    assert answer("bundle", "-o", tmp_path / "issue.zip", stored("exported")).exit_code == 0
    result = answer("export", tmp_path / "issue.zip")
    assert (result.exit_code, result.stdout) == (121, "")
    assert "has no trials in it" in result.stderr


def test_an_exported_program_comes_from_a_run_alone() -> None:
    result = answer("export", "-o", "model.pt2", stored("exported"))
    assert result.exit_code == 2
    assert "only a program that is run gives exported programs" in result.stderr


def test_inputs_that_no_trial_has_read_go_when_all_have_ended(tmp_path: Path) -> None:
    folder = tmp_path / "dynamo_export"
    folder.mkdir()
    for name in ("running.lock", "12-1-1.call", "12-1.pt2"):
        (folder / name).touch()
    said: list[str] = []
    wait_for_trials(tmp_path, said.append)
    assert said == ["trying to export what the program called"]
    assert sorted(file.name for file in folder.iterdir()) == ["12-1.pt2", "program_has_ended", "running.lock"]

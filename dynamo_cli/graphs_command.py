"""`dynamo graphs`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dynamo_core.case import Case
from dynamo_core.shared.errors import CannotRecord, did_you_mean
from dynamo_core.shared.safe_writing import replace_file
from dynamo_reporters.graphs.document import GROUPS, STAGES
from dynamo_reporters.page.blocks import Block
from dynamo_reporters.report import Report

from .options import all_option, completed_by, documented_option
from .report_command import report_command


def _known_stages(ctx: click.Context, parameter: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    known = [*STAGES, *GROUPS]
    for name in names:
        if name.lower().replace("_", "-") not in known:
            hint = did_you_mean(name, known) or f"stages are {', '.join(known)}"
            raise click.BadParameter(f"there is no stage {name!r}; {hint}")
    return names


@report_command("graphs", text_endings=(".py", ".dot", ".svg"))
@documented_option(
    "--style",
    type=click.Choice(("tabular", "code", "dot", "svg")),
    default=None,
    help="The nodes as a table, torch's readable code, or drawn: as SVG, or in Graphviz's language (dot).  "
    "[default: what the ending of -o says (.svg, .dot), else tabular]",
)
@documented_option(
    "--stage",
    "stages",
    multiple=True,
    metavar="STAGE",
    shell_complete=completed_by("stages"),
    callback=_known_stages,
    help=f"Show what became of the graphs, in torch's text: {', '.join(STAGES)}, or {' or '.join(GROUPS)}. "
    "Repeat for more.",
)
@all_option("Show every node, also of layers that repeat.")
@documented_option(
    "--training",
    is_flag=True,
    help="Show the forward and backward graph that AOTAutograd made of each, in numbers, and what the one "
    "saves for the other.",
)
@documented_option(
    "--runnable",
    type=click.IntRange(min=1),
    metavar="N",
    shell_complete=completed_by("graphs"),
    help="Give a stand-alone program that runs graph N: torch's own where Inductor compiled it, else one "
    "that compares eager and compiled.",
)
@documented_option(
    "--backward", is_flag=True, help="With --runnable: of the backward instead of the forward."
)
@documented_option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write each graph to DIR as table, code, dot and SVG, and each text of --stage. Files of the same "
    "names are replaced.",
)
def graphs_command(
    style: str | None,
    stages: tuple[str, ...],
    show_all: bool,
    training: bool,
    runnable: int | None,
    backward: bool,
    save: Path | None,
) -> Report[Case]:
    """Show the FX graphs that Dynamo handed to the backend.

    TARGET_HELP

    \b
    Examples:
      dynamo graphs                                    every graph, as tables
      dynamo graphs --style code                       as torch's readable code
      dynamo graphs -o graphs.svg                      drawn, to look at in a browser
      dynamo graphs --stage aot                        forward and backward, as AOTAutograd made them
      dynamo graphs --graph 2 --style dot | dot -Tpdf  one graph, drawn by Graphviz
      dynamo graphs --stage output-code                what Inductor wrote
      dynamo graphs --training                         what each forward saves for its backward
      dynamo graphs --runnable 1 -o graph1.py          a program that runs graph 1
    """
    from dynamo_reporters.graphs import files as programs
    from dynamo_reporters.graphs import report as graphs

    if backward and runnable is None:
        raise click.UsageError("--backward goes with --runnable")
    if runnable is not None:
        if style or stages or show_all or training or save:
            raise click.UsageError(
                "--runnable gives one program: not with --style, --stage, --all, --training or --save"
            )
        return programs.report(runnable, backward)
    if style is not None and stages:
        raise click.UsageError("--style is of Dynamo's graphs: a --stage is shown in torch's own text")
    if training and (style or stages or save):
        raise click.UsageError("--training is a table of its own: not with --style, --stage or --save")
    if style is None and not (stages or training):
        style = _style_of(click.get_current_context().params["report_file"])
    report = graphs.report(style or "tabular", stages, show_all, training)
    return report if save is None else _saving(report, save, stages, show_all)


def _style_of(report_file: Path | None) -> str | None:
    """The drawing that a file's name asks for."""
    return {".svg": "svg", ".dot": "dot"}.get(report_file.suffix.lower()) if report_file is not None else None


def _saving(report: Report[Case], folder: Path, stages: tuple[str, ...], show_all: bool) -> Report[Case]:
    """The report, which writes its files once it is given a case, and says which."""
    from dynamo_reporters.graphs.files import graph_files, saved_blocks

    def page(case: Case) -> list[Block]:
        files = graph_files(case.recording, stages, show_all)
        _write_files(folder, files)
        return saved_blocks(str(folder), list(files))

    def body(case: Case) -> Any:
        _write_files(folder, graph_files(case.recording, stages, show_all))
        return report.body(case)

    return replace(report, page=page, body=body)


def _write_files(folder: Path, files: dict[str, str]) -> None:
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = folder / name
            replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise CannotRecord(f"cannot write {path}: {error.strerror}") from error

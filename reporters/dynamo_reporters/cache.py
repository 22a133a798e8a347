"""`dynamo cache`: the page."""

from collections.abc import Iterator, Sequence
from dataclasses import field

from dynamo_core.analysis.words import frame_name, memory, number, seconds
from dynamo_core.caches.explained import CacheReport, ExplainedLookup, Reason
from dynamo_core.caches.lookups import EqualGraphs
from dynamo_core.caches.store import Pruned, Store, VllmFolder
from dynamo_core.model import Recording
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.quick_dataclass import dataclass

from .next_commands import what_to_do_first
from .page.blocks import Block, Bullets, Code, Heading, Paragraph, table
from .report import Report

_SHOWN = 12
_SHORT_KEY = 10  # characters, which tell keys apart; the document has all
_LONGEST_SENTENCE = 140  # characters, in a table


def report(recording: Recording, show_all: bool = False) -> Report[CacheReport]:
    """The report of `dynamo cache` on this recording; with `show_all`, every look-up."""
    return Report(
        "cache",
        lambda found: cache_blocks(found, recording, show_all=show_all),
        lambda found: CacheDocument(recording.address, recording.is_partial, found),
        then=lambda subject: [what_to_do_first(recording)],
    )


def cache_blocks(report: CacheReport, recording: Recording, *, show_all: bool = False) -> Iterator[Block]:
    """The page as blocks: first why, then what each cache said."""
    yield Heading(_capital(report.sentence), 1)
    yield Paragraph(_compared(report, recording), "dim")
    if report.verdict == "nothing recorded":
        yield Paragraph(
            "Only Inductor and AOTAutograd have such caches: another backend, or a trace of an older torch, "
            "leaves none."
        )
    if report.off or (report.reasons and report.verdict != "first run"):
        yield Heading("Why")
        for off in report.off:
            yield Heading(
                f"{off.sentence}: {number(off.compiles, 'compile')}, {seconds(off.lost_seconds)}", 3
            )
            yield Paragraph(f"→ {off.what_to_do}", "advice")
        for reason in report.reasons:
            yield from _reason(reason)
    yield from _layers(report)
    yield from _other_layers(report)
    yield from _lookups(report.lookups, show_all)
    yield from _cold_start(report)
    yield from _folders(report)


def _capital(sentence: str) -> str:
    """The sentence with a capital, unless it begins with a name of torch's."""
    word = sentence.partition(" ")[0]
    return sentence if ":" in word or "_" in word else sentence[:1].upper() + sentence[1:]


def _compared(report: CacheReport, recording: Recording) -> str:
    earlier = ", ".join(report.compared_with[-3:])
    more = len(report.compared_with) - 3
    rest = f" and {more:,} more" if more > 0 else ""
    compared = f"compared with {earlier}{rest}" if earlier else "no earlier run to compare with"
    return f"{recording.address}, {compared}"


def _reason(reason: Reason) -> Iterator[Block]:
    outcomes = [number(reason.misses, "miss", "misses")] if reason.misses else []
    outcomes += [number(reason.bypasses, "bypass", "bypasses")] if reason.bypasses else []
    cost = f"{number(reason.compiles, 'compile')}, {', '.join(outcomes)}, {seconds(reason.lost_seconds)}"
    yield Heading(f"{reason.sentence}: {cost}", 3)
    if len(reason.causes) > 1:
        rows = [
            [cause.part or "", cause.sentence[:_LONGEST_SENTENCE], cause.set_by or ""]
            for cause in reason.causes[:_SHOWN]
        ]
        yield table("part of the key|what differs|set by", rows)
        if len(reason.causes) > _SHOWN:
            yield Paragraph(f"… and {len(reason.causes) - _SHOWN} more parts; --format json has all", "dim")
    for advice in dict.fromkeys(cause.what_to_do for cause in reason.causes if cause.what_to_do):
        yield Paragraph(f"→ {advice}", "advice")


def _layers(report: CacheReport) -> Iterator[Block]:
    if not report.layers:
        return
    yield Heading("What each cache said")
    rows = [
        [layer.name, str(layer.hits), str(layer.misses), str(layer.bypasses)]
        + [seconds(each) if each is not None else "" for each in (layer.saved_seconds, layer.took_seconds)]
        for layer in report.layers
    ]
    yield table("cache|hits>|misses>|bypasses>|hits saved>|misses took>", rows)
    if report.saved_seconds is not None:
        yield Paragraph("A hit of AOTAutograd's has in it what Inductor's hits below it saved.", "dim")


def _other_layers(report: CacheReport) -> Iterator[Block]:
    """What is known of the others; of the rest only that nothing is, which is not that all was well."""
    known = [[each.name, each.sentence] for each in report.other_layers if each.sentence is not None]
    if known:
        yield table("other caches|what is recorded of them", known)
    silent = [each for each in report.other_layers if each.sentence is None]
    if silent and report.verdict != "nothing recorded":
        names = [each.name + (" (off)" if each.switched_off_by else "") for each in silent]
        yield Paragraph(f"Not recorded: {', '.join(names)}.", "dim")


def _lookups(lookups: Sequence[ExplainedLookup], show_all: bool) -> Iterator[Block]:
    if not lookups:
        return
    yield Heading("Each look-up")
    shown = lookups if show_all else _costliest(lookups)
    rows = [
        [
            f"[{lookup.compile_id or '-/-'}]",
            frame_name(lookup.function, lookup.method),
            lookup.cache + (f", {lookup.direction}" if lookup.direction else ""),
            lookup.outcome,
            _gained(lookup),
            "; ".join(cause.sentence for cause in lookup.causes)[:_LONGEST_SENTENCE],
            (lookup.key or "")[:_SHORT_KEY],
        ]
        for lookup in shown
    ]
    yield table("compile|frame|cache|said|seconds>|why|key", rows)
    if len(shown) < len(lookups):
        yield Paragraph(f"… and {len(lookups) - len(shown)} more; --all shows them", "dim")


def _costliest(lookups: Sequence[ExplainedLookup]) -> list[ExplainedLookup]:
    """The costliest look-ups, misses before hits, in the order of the run."""
    ranked = sorted(lookups, key=lambda each: (each.outcome == "hit", -(each.took_seconds or 0.0)))
    kept = {id(each) for each in ranked[:_SHOWN]}
    return [lookup for lookup in lookups if id(lookup) in kept]


def _gained(lookup: ExplainedLookup) -> str:
    if lookup.saved_seconds is not None:
        return f"saved {seconds(lookup.saved_seconds)}"
    return f"took {seconds(lookup.took_seconds)}" if lookup.took_seconds is not None else ""


def _cold_start(report: CacheReport) -> Iterator[Block]:
    if report.verdict == "warm" or not report.costliest:
        return
    yield Heading("Where compiling went")
    rows = [
        [
            f"[{each.compile_id or '-/-'}]",
            frame_name(each.function, each.method),
            seconds(each.seconds),
            f"{each.share:.0%}",
        ]
        for each in report.costliest
    ]
    yield table("compile|frame|took>|of all compiling>", rows)
    yield Bullets([_equal(each) for each in report.equal_graphs[:_SHOWN]])


def _equal(graphs: EqualGraphs) -> str:
    saves = f"; compiled once, {seconds(graphs.saves_at_most)} less at most" if graphs.saves_at_most else ""
    name = frame_name(graphs.function, graphs.method)
    return (
        f"{graphs.times} equal graphs of {name} ({number(graphs.ops, 'op')}) took "
        f"{seconds(graphs.backend_seconds)}{saves} (estimated): compile the repeated block itself "
        "(`block.compile()`, `torch.compiler.nested_compile_region`)"
    )


def _folders(report: CacheReport) -> Iterator[Block]:
    if not report.folders:
        return
    yield Heading("Where the caches are")
    for each in report.folders:
        held = {True: "held graphs before", False: "held no graphs before", None: ""}[each.held_graphs]
        facts = [held, each.filesystem or "", f"{memory(each.free_bytes)} free" if each.free_bytes else ""]
        yield Paragraph(f"{each.folder}: {', '.join(filter(None, facts))}")
        if each.problem is not None:
            yield Paragraph(each.problem, "warning")
        if each.vanishes is not None and report.verdict != "warm":
            yield Paragraph(f"That is {each.vanishes}.", "warning")
    if report.next_start and (report.verdict != "warm" or report.kernels is not None):
        pack, unpack = report.next_start
        yield Paragraph("To start warm elsewhere, in a new container say, pack the caches now")
        yield Code(pack, "sh")
        yield Paragraph("and unpack them there, before the program starts, without TORCHINDUCTOR_CACHE_DIR")
        yield Code(unpack, "sh")


@dataclass(frozen=True)
class CacheDocument:
    """What the caches said in a recording, and why."""

    recording: str
    is_partial: bool
    caches: CacheReport


# `dynamo cache --store`: what lies in the compile caches, as blocks and as JSON.


_SHOWN_OF_STORE = 10


@dataclass(frozen=True)
class Looked:
    """A folder that was looked through; `vllm` has its keys where it is vLLM's, `pruned` what was deleted."""

    store: Store = field(metadata=INLINE)
    vllm: tuple[VllmFolder, ...]
    pruned: Pruned | None


@dataclass(frozen=True)
class StoreDocument:
    """The compile caches of a machine; entries not used for `unused_for_days` could be pruned."""

    unused_for_days: float
    folders: list[Looked]


def store_report(days: float) -> Report[Sequence[Looked]]:
    """The report of `dynamo cache --store`; entries that were not used for so many `days` count as unused."""
    return Report(
        "cache-store",
        lambda looked: store_blocks(looked, days),
        lambda looked: StoreDocument(days, list(looked)),
    )


def store_blocks(looked: Sequence[Looked], days: float) -> Iterator[Block]:
    """The page."""
    if not looked:
        yield Heading("No compile caches here: neither Inductor's, Triton's nor vLLM's folder is there.", 1)
        return
    total = sum(each.store.size for each in looked)
    old = sum(layer.old_size for each in looked for layer in each.store.layers)
    entries = number(sum(each.store.entries for each in looked), "entry", "entries")
    rest = f", {memory(old)} not used for {days:g} days" if old else ""
    yield Heading(f"{memory(total)} in {entries}{rest}", 1)
    for each in looked:
        yield from _folder(each, days)
    if old and not any(each.pruned for each in looked):
        yield Paragraph(
            f"→ dynamo cache --store --prune deletes what was not used for {days:g} days", "advice"
        )


def _folder(looked: Looked, days: float) -> Iterator[Block]:
    store = looked.store
    yield Heading(f"{store.folder}: {store.kind}, {memory(store.size)}")
    rows = [
        [
            layer.name,
            f"{layer.entries:,}",
            memory(layer.size),
            _age(layer.newest_days),
            _age(layer.oldest_days),
            f"{layer.old_entries:,}, {memory(layer.old_size)}" if layer.old_entries else "",
        ]
        for layer in store.layers
    ]
    if rows:
        yield table(f"layer|entries>|size>|used last>|used first>|unused for {days:g} days>", rows)
    if store.torch:
        versions = ", ".join(f"{version} ({count:,})" for version, count in store.torch.items())
        asked = f"of the newest {store.torch_asked:,} " if store.torch_asked >= 2 else "of the "
        yield Paragraph(f"torch, {asked}FX graphs: {versions}")
    differing = [f"{each.name}: {_vllm(each)}" for each in looked.vllm]
    yield Bullets(differing[-_SHOWN_OF_STORE:])
    for problem in store.problems:
        yield Paragraph(problem, "warning")
    if looked.pruned is not None:
        text = f"deleted {number(looked.pruned.entries, 'entry', 'entries')}, {memory(looked.pruned.size)}"
        failed = looked.pruned.failed
        yield Paragraph(text + (f"; {number(failed, 'file')} could not be deleted" if failed else ""))


def _vllm(folder: VllmFolder) -> str:
    if folder.problem is not None:
        return folder.problem
    if folder.differs is None:
        return "the first"
    return "; ".join(folder.differs) or "the same key factors as the one before it"


def _age(days: float | None) -> str:
    if days is None:
        return ""
    if days < 1 / 24:
        return f"{days * 1440:.0f} min ago"
    return f"{days * 24:.0f} h ago" if days < 2 else f"{days:,.0f} days ago"

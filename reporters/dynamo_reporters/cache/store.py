"""`dynamo cache --store`: what lies in the compile caches, as blocks and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from dynamo_core.analysis.words import memory, number
from dynamo_core.cache_store.prune import Pruned
from dynamo_core.cache_store.scan import Store, StoredLayer
from dynamo_core.cache_store.vllm import VllmFolder
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value
from ..page.blocks import Block, Bullets, Heading, Paragraph, table

_SHOWN = 10


@dataclass(frozen=True)
class Version:
    """How many FX graphs, of those that were looked at, are of a version of torch."""

    torch: str
    entries: int


@dataclass(frozen=True)
class FolderDocument:
    """One folder; `vllm` has its keys where it is vLLM's, `pruned` what was deleted where that was asked."""

    folder: str
    kind: str
    size: int
    entries: int
    layers: tuple[StoredLayer, ...]
    torch: tuple[Version, ...]
    torch_asked: int
    problems: tuple[str, ...]
    vllm: tuple[VllmFolder, ...]
    pruned: Pruned | None


@dataclass(frozen=True)
class StoreDocument:
    """The compile caches of a machine; entries not used for `unused_for_days` could be pruned."""

    schema: Literal["dynamo-cache-store"]
    version: Literal[1]
    unused_for_days: float
    folders: tuple[FolderDocument, ...]


@dataclass(frozen=True)
class Looked:
    """A folder that was looked through, and what was done."""

    store: Store
    vllm: tuple[VllmFolder, ...]
    pruned: Pruned | None


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
    if differing:
        yield Bullets(differing[-_SHOWN:])
    for problem in store.problems:
        yield Paragraph(problem, "warning")
    if looked.pruned is not None:
        told = f"deleted {number(looked.pruned.entries, 'entry', 'entries')}, {memory(looked.pruned.size)}"
        failed = looked.pruned.failed
        yield Paragraph(told + (f"; {number(failed, 'file')} could not be deleted" if failed else ""))


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


def store_document(looked: Sequence[Looked], days: float) -> dict[str, Any]:
    """The document."""
    folders = tuple(
        FolderDocument(
            each.store.folder,
            each.store.kind,
            each.store.size,
            each.store.entries,
            each.store.layers,
            tuple(Version(version, count) for version, count in each.store.torch.items()),
            each.store.torch_asked,
            each.store.problems,
            each.vllm,
            each.pruned,
        )
        for each in looked
    )
    document: dict[str, Any] = json_value(StoreDocument("dynamo-cache-store", 1, days, folders))
    return document

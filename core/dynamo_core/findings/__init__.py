"""What the tool concludes from a recording: findings, the same ones in the same order on every surface."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ..analysis.figures import Figures
from ..analysis.other_counts import captured_before
from ..model import Recording
from ..recording.calls import CALL_SAMPLES
from ..shared import names
from .actions import Action, Alternative, actions_of, is_context
from .breaks import breaks, fallbacks, left_eager
from .build import by_identity, of_identities, ranked, saved_together, without_remedies_in_use
from .caches import cache_bypasses, caches_off, cold_start, compiled_by_several, unstable_keys
from .correctness import (
    not_taken,
    other_random_numbers,
    raised_in_graphs,
    ranks_differ,
    refused_by_torch,
    wrong_results,
)
from .cuda_graphs import many_cuda_graphs, skipped_cuda_graphs
from .finding import Cost, Draft, Evidence, Figure, Finding, Known, Remedy, RemedyKind
from .kinds import KINDS, OF_THE_COMPILER, Kind
from .recompiles import recompiled_from_scratch, recompiles
from .time import (
    costly_guards,
    eager_optimizer,
    never_pays_back,
    overhead_bound_graphs,
    slow_loader,
    time_outside_of_graphs,
    unrolled_loops,
)
from .unused import hooks_left_out, unused_compiles

__all__ = [
    "ANALYSES",
    "ANALYSES_OF_THE_COMPILER",
    "CONTENTS",
    "KINDS",
    "OF_THE_COMPILER",
    "Action",
    "Alternative",
    "Cost",
    "Draft",
    "Evidence",
    "Figure",
    "Finding",
    "Kind",
    "Known",
    "Remedy",
    "RemedyKind",
    "actions_of",
    "drafts_of",
    "find",
    "find_identities",
    "findings_of",
    "is_context",
    "saved_together",
    "without_remedies_in_use",
]

# What the reader must load of a recording for them.
CONTENTS = frozenset({CALL_SAMPLES, names.PROFILE_WINDOW})
Analysis = Callable[[Figures], Iterable[Draft]]
# Those of what the compiler made of the program, which rest on no times.
ANALYSES_OF_THE_COMPILER: tuple[Analysis, ...] = (
    wrong_results,
    ranks_differ,
    fallbacks,
    breaks,
    unused_compiles,
    hooks_left_out,
    other_random_numbers,
    recompiles,
    recompiled_from_scratch,
    not_taken,
)
# Every analysis; adding one is a line here, or above, and a row in `kinds.py`.
ANALYSES: tuple[Analysis, ...] = (
    *ANALYSES_OF_THE_COMPILER,
    raised_in_graphs,
    refused_by_torch,
    left_eager,
    skipped_cuda_graphs,
    many_cuda_graphs,
    overhead_bound_graphs,
    costly_guards,
    time_outside_of_graphs,
    slow_loader,
    eager_optimizer,
    unstable_keys,
    cold_start,
    caches_off,
    cache_bypasses,
    compiled_by_several,
    unrolled_loops,
    never_pays_back,
)


# What is wrong, or raised an error in the program, is none: that has happened to it.
_GONE_WITHOUT_CAPTURE = (
    *("graph break", "fell back to eager", "recompile", "recompile limit", "compiled anew"),
    "cache bypass",
)


def find(
    recording: Recording, figures: Figures | None = None, analyses: Iterable[Analysis] = ANALYSES
) -> list[Finding]:
    """All findings, what is worth most first. `figures` are those of the recording, where they are known."""
    return without_remedies_in_use(findings_of(drafts_of(figures or Figures(recording), analyses)), recording)


def find_identities(figures: Figures, analyses: Iterable[Analysis] = ANALYSES) -> dict[str, Draft]:
    """The first draft of each finding by its identity, as they are found.

    It has no words that cost something to find: for those who only want to know which findings there are.
    """
    return {identity: same[0] for identity, same in drafts_of(figures, analyses).items()}


def drafts_of(figures: Figures, analyses: Iterable[Analysis] = ANALYSES) -> dict[str, list[Draft]]:
    """What each finding is made of, by its identity; without what only frames met that the program lets be.

    Those were captured before it called torch.compile itself.
    """
    captured = {each.stream: captured_before(each) for each in figures.recording.processes}
    drafts = (draft for analysis in analyses for draft in analysis(figures))
    return by_identity([draft for draft in drafts if not _is_of_captured_before(draft, captured)])


def _is_of_captured_before(draft: Draft, captured: Mapping[Path, frozenset[str]]) -> bool:
    ids = {*draft.evidence.compile_ids}
    is_left_out = bool(ids and draft.processes) and draft.kind in _GONE_WITHOUT_CAPTURE
    return is_left_out and all(ids <= captured[each.stream] for each in draft.processes)


def findings_of(drafts: Mapping[str, Sequence[Draft]]) -> list[Finding]:
    """The findings that are made of these, what is worth most first."""
    return ranked(of_identities(drafts))

"""The verdict of a comparison: better, worse or just different, by its findings and counts."""

from collections import Counter
from collections.abc import Collection, Sequence

from ..analysis.words import number
from ..findings.kinds import SPECS
from .counts import EXIT_CODE
from .difference import Compared, CountChange, GraphChange, GuardChange, Time, Verdict
from .findings import MatchedFindings

# More or fewer of them is neither good nor bad by itself.
_NEUTRAL = {"graphs": ("graph", "graphs")}
_More = list[tuple[int, tuple[str, str]]]


def verdict_of(
    findings: MatchedFindings,
    graphs: Sequence[GraphChange],
    counts: Sequence[CountChange],
    times: Sequence[Time],
    compared: Compared,
) -> tuple[Verdict, str]:
    """The verdict, and the sentence that the report begins with."""
    by_name = {change.name: change.after - change.before for change in counts if change.function is None}
    by_kind = Counter(finding.kind for finding in findings.added)
    by_kind.subtract(finding.kind for finding in findings.removed)
    # Fewer of them are better: findings, and what a count says the number of.
    judged: _More = []
    for kind, spec in SPECS.items():
        more = by_kind[kind] if spec.diff_count is None else by_name.get(spec.diff_count)
        if spec.diff_words is not None and more:
            judged.append((more, spec.diff_words))
    neutral: _More = [(by_name[name], words) for name, words in _NEUTRAL.items() if by_name.get(name)]
    endings = [change for change in counts if change.name == EXIT_CODE]
    verdict = _verdict(judged, endings)
    if verdict == "different" and not (
        findings.added or findings.removed or findings.changed or graphs or counts
    ):
        return "nothing differs", _with_times(_nothing(compared), times)
    amounts = _amounts([*judged, *neutral]) or _changed_parts(findings, graphs, counts)
    ended = [f"it ended with exit code {change.after}, not {change.before}" for change in endings]
    return verdict, _with_times(
        f"{verdict.capitalize()}: {'; '.join(filter(None, [amounts, *ended]))}", times
    )


def torch_version_note(
    findings: MatchedFindings,
    graphs: Sequence[GraphChange],
    guards: Sequence[GuardChange],
    of_torch: Collection[str],
) -> str:
    """Where the versions of torch differ: whether that alone explains all differences, in words."""
    explained = [finding.identity in of_torch for finding in (*findings.added, *findings.removed)]
    explained += [not findings.changed]
    explained += [graph.is_of_torch or graph.because in of_torch for graph in graphs]
    explained += [guard.is_of_torch for guard in guards]
    if all(explained):
        return "torch is another one, and the lines of the functions are the same"
    return "torch is another one as well"


def _verdict(judged: _More, endings: Sequence[CountChange]) -> Verdict:
    signs = [amount for amount, _ in judged]
    signs += [1 if change.before == 0 else -1 if change.after == 0 else 0 for change in endings]
    if any(sign > 0 for sign in signs):
        return "different" if any(sign < 0 for sign in signs) else "worse"
    return "better" if any(sign < 0 for sign in signs) else "different"


def _nothing(compared: Compared) -> str:
    parts = [number(compared.graphs, "graph"), number(compared.findings, "finding")]
    return f"Nothing differs ({', '.join(parts)} compared)"


def _amounts(changes: _More) -> str:
    parts = []
    for word, sign in (("more", 1), ("fewer", -1)):
        amounts = [number(abs(amount), *words) for amount, words in changes if amount * sign > 0]
        if amounts:
            parts.append(f"{_listed(amounts)} {word}")
    return ", ".join(parts)


def _changed_parts(
    findings: MatchedFindings, graphs: Sequence[GraphChange], counts: Sequence[CountChange]
) -> str:
    parts = [
        f"{number(len(found), 'finding')} {what}"
        for found, what in ((findings.added, "came"), (findings.removed, "went"))
        if found
    ]
    if graphs:
        changed = sum(change.times for change in graphs)
        parts.append(f"{number(changed, 'graph')} changed")
    if not parts and findings.changed:
        parts.append(f"{number(len(findings.changed), 'finding')} with another count")
    if not parts:
        names = dict.fromkeys(change.name for change in counts if change.name != EXIT_CODE)
        parts = [f"the number of {name}" for name in names][:3]
    return _listed(parts)


def _with_times(sentence: str, times: Sequence[Time]) -> str:
    """The sentence with the times that changed appended, which do not affect the verdict."""
    changed = [f"{each.name} is {each.why}" for each in times if each.verdict in ("longer", "shorter")]
    return "; ".join([sentence, *changed])


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))

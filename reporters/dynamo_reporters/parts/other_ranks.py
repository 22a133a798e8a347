"""What a page of one rank says of the others: that the ranks wait for each other, or differ."""

from collections.abc import Iterator

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.ranks.members import ranks_of
from dynamo_core.model import Recording

from ..page.blocks import Block, Paragraph


def other_ranks_blocks(recording: Recording) -> Iterator[Block]:
    """A line, where one rank was selected of several and they are not all alike."""
    if recording.whole is None or len(ranks_of(recording)) != 1 or len(ranks_of(recording.whole)) < 2:
        return
    verdict = compare_ranks(recording.whole).verdict
    if verdict is not None:
        yield Paragraph(f"All ranks beside each other: {verdict}. `dynamo ranks` says more.", "warning")

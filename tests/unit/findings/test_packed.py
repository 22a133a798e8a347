"""A recurrent layer that gets packed sequences from another function is cured as the packing is."""

from dynamo_core.findings import Finding, find
from dynamo_core.model import CompileId, Frame, GraphBreak, Place, StackFrame
from support.made import of_one_process

FILE = "/home/me/tagger.py"
PACKS = StackFrame(Place(FILE, 8), "run_packed", "packed = pack_padded_sequence(x, lengths)")
CALLS = StackFrame(Place(FILE, 22), "forward", "x = run_packed(self.rnn, x, lengths)")
DECODES = StackFrame(Place(FILE, 42), "forward", "z, _ = self.rnn(y)")
SKIPPED, WRAPPED = "Attempted to call function marked as skipped", "Attempted to wrap RNN, GRU, or LSTM"
FRAMES = [
    Frame(name, Place(FILE, line), "compiled", None, True, False, CompileId(number, 0))
    for number, (name, line) in enumerate(
        (("forward", 20), ("run_packed", 7), ("forward", 40), ("forward", 70))
    )
]


def found(layer: tuple[StackFrame, ...], packing: tuple[StackFrame, ...]) -> list[Finding]:
    """The findings where a frame falls back at the layer, and another one breaks at the packing."""
    stopped = GraphBreak(WRAPPED, layer, CompileId(8, 0))
    place = layer[0].place
    eager = Frame("<lambda>", place, "failed", WRAPPED, False, False, CompileId(8, 0), stopped=stopped)
    packs = GraphBreak(SKIPPED, packing[-1:], CompileId(1, 0), callers=packing[:-1])
    return find(of_one_process(frames=[*FRAMES, eager], breaks=[packs]))


def advised(findings: list[Finding]) -> dict[int, str]:
    return {each.place.line: each.remedies[0].text for each in findings if each.place is not None}


def test_a_layer_whose_function_calls_the_packing_has_its_advice_and_stands_behind_it() -> None:
    first, second = found((CALLS,), (CALLS, PACKS))
    assert (first.place, second.place) == (PACKS.place, CALLS.place)
    assert first.remedies == second.remedies and "pack_padded_sequence" in first.remedies[0].text
    assert second.because_of == first.identity


def test_a_layer_in_a_function_that_is_given_what_is_packed_has_it_as_well() -> None:
    at = StackFrame(Place(FILE, 9), "run_packed", "out = self.run(packed)")
    inside = StackFrame(Place(FILE, 60), "run", "return self.rnn(given)")
    texts = advised(found((at, inside), (PACKS,)))
    assert texts[60] == texts[8]


def test_a_layer_of_another_function_keeps_the_setting() -> None:
    seq2seq = StackFrame(Place(FILE, 80), "forward", "return self.decoder(y, self.encoder(x, lengths))")
    texts = advised(found((seq2seq, DECODES), (seq2seq, CALLS, PACKS)))
    assert "allow_rnn" in texts[42] and "allow_rnn" not in texts[8]


def test_a_layer_that_is_called_where_others_are_packed_keeps_the_setting() -> None:
    called = StackFrame(Place(FILE, 10), "run_packed", "z = self.decode(y)")
    texts = advised(found((called, DECODES), (PACKS,)))
    assert "allow_rnn" in texts[42]

"""What may stand in --override and --freeze-after, and what is said of what may not."""

import re

import pytest

from dynamo_core.shared.backend_choice import parse_chain
from dynamo_core.shared.choices import FreezeAfter, parse_freeze_after
from dynamo_core.shared.overrides import merged, parse_override


def test_values_have_the_types_that_torch_compile_takes() -> None:
    override = parse_override("backend=aot_eager,dynamic=True,fullgraph=false,disable=False")
    assert (override.backend, override.mode) == ("aot_eager", None)
    assert override.others == {"dynamic": True, "fullgraph": False, "disable": False}
    assert parse_override("dynamic=None").others == {"dynamic": None}
    assert parse_override("isolate_recompiles=True").others == {"isolate_recompiles": True}


def test_what_has_no_equals_sign_goes_on_the_value_before_it() -> None:
    override = parse_override("backend=ofi,inductor:max-autotune,eager,dynamic=True")
    assert [str(choice) for choice in override.choices()] == ["ofi", "inductor:max-autotune", "eager"]
    assert override.others == {"dynamic": True}


def test_options_are_the_backends_and_inductors_where_none_is_named() -> None:
    override = parse_override("option.max_autotune=true,option.split_reductions=0")
    (choice,) = override.choices()
    assert choice.name == "inductor"
    assert dict(choice.options) == {"max_autotune": True, "split_reductions": 0}


@pytest.mark.parametrize(
    ("frame", "fits"),
    [("0", [(0, 0), (0, 1), (0, 7)]), ("0/1", [(0, 1)]), ("[12/0]", [(12, 0)])],
)
def test_a_compile_id_or_all_of_a_frame(frame: str, fits: list[tuple[int, int]]) -> None:
    override = parse_override(f"frame={frame},backend=eager")
    tried = [(frame, compile_) for frame in (0, 1, 12) for compile_ in (0, 1, 7)]
    assert [each for each in tried if override.is_of(*each)] == fits


@pytest.mark.parametrize("text", ["backend=eager,mode=default", "frame=0/1,backend=a.py:f", "option.x=1.5"])
def test_it_is_spelled_as_it_was_typed(text: str) -> None:
    assert str(parse_override(text)) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not KEY=VALUE"),
        ("backend", "is not KEY=VALUE"),
        ("bakend=eager", "did you mean 'backend'?"),
        ("model=x", "did you mean 'mode'?"),
        ("zzz=x", "cannot be replaced; keys are "),
        ("mode=zzz", "modes are default, "),
        ("dynamic=maybe", "none of True, False, None"),
        ("disable=None", "none of True, False"),
        ("mode=max-autotun", "did you mean 'max-autotune'?"),
        ("mode=default,option.max_autotune=1", "not both"),
        ("frame=0/1", "replaces nothing"),
        ("frame=f,backend=eager", "no compile id"),
        ("frame=0,dynamic=True", "only the backend"),
        ("backend=eager,backend=inductor", "backend twice"),
        ("backend=eager,,inductor", "no name"),
        ("backend=", "no name"),
    ],
)
def test_a_bad_override_is_told(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_override(text)


def test_an_option_is_for_the_only_backend_or_for_the_one_that_it_names() -> None:
    (only,) = parse_chain("ofi", options={"size": 3})
    first, second = parse_chain("ofi,inductor", options={"inductor:size": 3})
    assert (only.options, first.options, second.options) == ((("size", 3),), (), (("size", 3),))
    for chain in ("ofi,inductor", "ofi,inductor,eager"):
        with pytest.raises(ValueError, match=re.escape("is for: ofi:size=VALUE")):
            parse_chain(chain, options={"size": 3})
    with pytest.raises(ValueError, match="which is not among the backends"):
        parse_chain("ofi,inductor", options={"eager:size": 3})


def test_of_several_the_later_counts_and_those_of_a_compile_stand_apart() -> None:
    texts = ("backend=eager,dynamic=True", "backend=aot_eager", "frame=0,backend=inductor")
    together = merged(map(parse_override, texts))
    assert together is not None
    assert (together.backend, together.others) == ("aot_eager", {"dynamic": True})
    assert merged([parse_override("frame=0,backend=inductor")]) is None


def test_overrides_that_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="not both"):
        merged(map(parse_override, ("mode=default", "option.max_autotune=1")))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("100", FreezeAfter(calls=100)),
        ("2.5s", FreezeAfter(seconds=2.5)),
        ("forward=3", FreezeAfter(calls=3, function="forward")),
        ("Model.forward=3", FreezeAfter(calls=3, function="Model.forward")),
    ],
)
def test_when_to_freeze(text: str, meant: FreezeAfter) -> None:
    assert parse_freeze_after(text) == meant


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "0s", "s", "f=", "=3", "f=0", "f=2s", "1.5", "ten", "1e3", "nan"]
)
def test_a_bad_moment_to_freeze_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="a number of calls"):
        parse_freeze_after(text)

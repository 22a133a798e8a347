"""To which of torch's caches a file belongs, and to which entry, by its path alone."""

import pytest

from dynamo_core.caches.store import (
    AOT,
    CODE,
    FOREIGN,
    FX_GRAPHS,
    HEADERS,
    LOCKS,
    PGO,
    TRITON,
    VLLM,
    layer_of,
)

KEY = "abcdefghij" * 5
HASH = "0123456789abcdef"


@pytest.mark.parametrize(
    ("path", "layer", "entry"),
    [
        (f"fxgraph/ab/f{KEY}/one", FX_GRAPHS, f"fxgraph/ab/f{KEY}"),
        (f"fxgraph/ab/f{KEY}", FOREIGN, f"fxgraph/ab/f{KEY}"),
        (f"aotautograd/a{KEY}/one", AOT, f"aotautograd/a{KEY}"),
        ("precompiled_headers/cpu/x.gch", HEADERS, "precompiled_headers"),
        ("locks/a.b", LOCKS, "locks/a.b"),
        ("fxgraph/ab.lock", LOCKS, "fxgraph/ab.lock"),
        ("dynamo/code_state_x", PGO, "dynamo/code_state_x"),
        ("triton/0/ABC/x.cubin", TRITON, "triton/0/ABC"),
        ("ab/cab.main.so", CODE, "ab/cab"),
        ("ab/cab.cpp", CODE, "ab/cab"),
        ("notes.txt", FOREIGN, "notes.txt"),
    ],
)
def test_a_file_in_inductors_folder(path: str, layer: str, entry: str) -> None:
    assert layer_of("Inductor", path) == (layer, entry)


@pytest.mark.parametrize(
    ("kind", "path", "layer", "entry"),
    [
        ("Triton", "ABCDEFGHIJKLMNOPQRSTUV/x.json", TRITON, "ABCDEFGHIJKLMNOPQRSTUV"),
        ("Triton", "short/x.json", FOREIGN, "short/x.json"),
        ("vLLM", f"{HASH}/rank_0_0/x.py", VLLM, HASH),
        ("vLLM", "models/x.py", FOREIGN, "models/x.py"),
        ("vLLM", f"fxgraph/ab/f{KEY}/one", FOREIGN, f"fxgraph/ab/f{KEY}/one"),
        ("Triton", f"{HASH}/rank_0_0/x.py", FOREIGN, f"{HASH}/rank_0_0/x.py"),
    ],
)
def test_a_file_in_a_folder_of_tritons_or_of_vllms(kind: str, path: str, layer: str, entry: str) -> None:
    assert layer_of(kind, path) == (layer, entry)

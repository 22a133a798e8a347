"""Where torch, Triton and vLLM keep compile caches, and what an entry of each layer looks like.

Source: torch/_inductor/codecache.py (FxGraphCache._get_tmp_dir_for_key, write, _HEADER_DIR),
torch/_functorch/_aot_autograd/autograd_cache.py (AOTAutogradCache._get_tmp_dir), torch/_dynamo/pgo.py
(code_state_path), torch/_inductor/runtime/cache_dir_utils.py, all of torch 2.13; triton/runtime/cache.py and
vllm/compilation/backends.py.
"""

import getpass
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

FX_GRAPHS, AOT, CODE, TRITON = "FX graphs", "AOTAutograd", "C++ and Python code", "Triton kernels"
AUTOTUNED, PGO, HEADERS, LOCKS = "autotuning results", "PGO's state", "precompiled C++ headers", "locks"
VLLM, FOREIGN = "vLLM", "not of these caches"
LAYERS = (FX_GRAPHS, AOT, CODE, TRITON, AUTOTUNED, PGO, HEADERS, LOCKS, VLLM, FOREIGN)

_KEY = r"[a-z2-7]{50,53}"
# A path in Inductor's folder: the layer, and how many of its parts name the entry.
_INDUCTOR: tuple[tuple[str, re.Pattern[str], int], ...] = (
    (FX_GRAPHS, re.compile(rf"fxgraph/\w{{2}}/f{_KEY}/[^/]+"), 3),
    (AOT, re.compile(rf"aotautograd/a{_KEY}/[^/]+"), 2),
    (HEADERS, re.compile(r"precompiled_headers/.+"), 1),
    (LOCKS, re.compile(r"\A(?:(?:.+/)?locks/[^/]+|(?:.+/)?[^/]+\.lock)\Z"), 2),
    (PGO, re.compile(r"dynamo/[^/]+"), 2),
    (TRITON, re.compile(r"triton/[^/]+/[^/]+/[^/]+"), 3),
    (
        AUTOTUNED,
        re.compile(r"\A(?:.+\.best_config|(?:local_cache|bundled_autotune|gemm|aten)[^/]*(?:/.+)?)\Z"),
        2,
    ),
    (CODE, re.compile(r"[a-z2-7]{2}/[^/]+\.(?:cpp|so|o|py|h|cubin|json|ptx|txt|lock|main\.\w+)"), 2),
)
_TRITON = re.compile(r"[A-Z0-9a-z_=-]{20,80}/[^/]+")
_VLLM = re.compile(r"(?:torch_aot_compile/)?[0-9a-f]{8,64}/.+")


def layer_of(kind: str, path: str) -> tuple[str, str]:
    """The layer of a file, and the name of the entry that it is of, by its path in a folder of this kind."""
    if kind == "Triton" and _TRITON.fullmatch(path):
        return TRITON, path.partition("/")[0]
    if kind == "vLLM" and _VLLM.fullmatch(path):
        return VLLM, path.partition("/")[0]
    if kind == "Inductor":
        for layer, pattern, parts in _INDUCTOR:
            if pattern.fullmatch(path):
                entry = path if layer in (LOCKS, PGO) else "/".join(path.split("/")[:parts])
                return layer, entry.partition(".")[0] if layer == CODE else entry
    return FOREIGN, path


def kind_of(folder: Path) -> str:
    """Whose cache a folder is, by what is in it; Inductor's unless something speaks against it."""
    if folder.name == "torch_compile_cache" or _holds(folder, "*/rank_*"):
        return "vLLM"
    if folder.parent.name == ".triton" or _holds(folder, "*/__grp__*.json"):
        return "Triton"
    return "Inductor"


def _holds(folder: Path, pattern: str) -> bool:
    try:
        return any(folder.glob(pattern))
    except OSError:  # no rights
        return False


def default_folders(environment: Mapping[str, str]) -> list[Path]:
    """The cache folders that programs of this user and environment use, as far as they exist."""
    temporary, home = Path(tempfile.gettempdir()), Path(environment.get("HOME") or os.path.expanduser("~"))
    wanted = [
        Path(environment.get("TORCHINDUCTOR_CACHE_DIR") or temporary / f"torchinductor_{_user()}"),
        temporary / f"torchinductor_{_user()}",
        Path(environment.get("TRITON_CACHE_DIR") or home / ".triton" / "cache"),
        Path(environment.get("VLLM_CACHE_ROOT") or _caches(environment, home) / "vllm")
        / "torch_compile_cache",
    ]
    return [folder for folder in dict.fromkeys(wanted) if may_be_folder(folder)]


def may_be_folder(path: Path) -> bool:
    """Whether there is a folder, or we have no right to know."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _caches(environment: Mapping[str, str], home: Path) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache")


def _user() -> str:
    try:
        return re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser())
    except (KeyError, ModuleNotFoundError, OSError):
        return f"uid_{os.getuid()}"

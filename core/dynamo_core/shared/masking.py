"""Masks secrets in command lines and environments, and lists the environment variables that are recorded.

A secret is masked before it is recorded, since recordings are shared. It is recognised by its name (token,
password, key, ...), or, without a name, by its form (the user of a URL, a known kind of token).

Patterns are strings, which `re` compiles and caches on first use. To compile all of them takes 1.5 ms in
every program that is run, and few command lines have anything that could match.
"""

import re
from collections.abc import Iterable, Mapping

MASK = "***"
_LONGEST_ARGUMENT = 20_000  # characters; what a program is given with -c can be longer
_LONGEST_COMMAND = 200_000

# A word in a name: so `--api-token`, `db.password` and `AUTH_KEY2` are found; `--tokenizer`, `--max-tokens`
# and a token of a vocabulary (`eos_token_id`) are not.
_SECRET_WORD = (
    r"passw(?:or)?d|passphrase|secret|credential|bearer|cookie|signature|authorization"
    r"|(?<!(?:pad|eos|bos|unk|sep|cls)[_-])(?<!mask[_-])token(?![a-z])|(?:api|access|hf)[_-]?tokens(?![a-z])"
    r"|(?:key|auth|pwd|pass)s?(?![a-z])|(?<![a-z])(?:pw|pat|sas|dsn)(?![a-z])"
)
_CAMEL_CASE = r"(?<=[a-z])(?=[A-Z])"
_OPTION = r"--?[A-Za-z][\w.:/-]*"
# `password=…`, `"token": "…"`, `Authorization: Bearer …`, `?api_key=…`, anywhere. Each repetition is bounded
# or cannot overlap with what follows it, so that matching takes linear time.
_NAMED = (
    rf"(?i)((?:{_SECRET_WORD})[\w-]{{0,40}}[\"']?\s{{0,3}}(?:=|:(?!/))\s{{0,3}}"
    r"(?:(?:bearer|basic|token)\s{1,3})?)(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"'&;,)}\]]+)"
)
_SCHEME = r"(?i)\b((?:bearer|basic)\s{1,3})[\w+/=.~-]{8,}"
# The user and the password of a URL; a password may hold a slash that should have been encoded.
_USER_OF_URL = r"(?<=://)(?:[^\s/\"'<>]*@|[^\s/:@\"'<>]*:[^\s\"'<>]{0,200}@)"
# `user:password@host` without a scheme, as ssh-like and database tools take it.
_USER_AND_PASSWORD = r"(?<![\w/])([\w.%+-]{1,64}:)[^\s/@:]{1,128}@(?=[\w.-])"
_KNOWN_TOKEN = (
    r"\b(?:hf_|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|pypi-|AKIA|ASIA|AIza|eyJ)[\w-]{12,}[\w.=-]*"
)
_IN_KNOWN_TOKENS = (
    "hf_",
    "gh",
    "github_pat_",
    "glpat-",
    "xox",
    "sk-",
    "pypi-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
)

# Variables that change what is compiled, how, or where it runs. Exact names: a variable that merely begins
# like one of them may be anything.
_NAMES = """
    TORCH_LOGS TORCH_LOGS_FORMAT TORCH_LOGS_OUT TORCH_TRACE TORCH_DTRACE TORCH_HOME
    TORCH_COMPILE_DEBUG TORCH_COMPILE_DISABLE TORCH_COMPILE_BACKEND TORCH_COMPILE_CPROFILE
    TORCH_COMPILE_OVERRIDE_BACKENDS TORCH_COMPILE_DYNAMIC_SOURCES TORCH_COMPILE_UNBACKED_SOURCES
    TORCH_COMPILE_USE_LAZY_GRAPH_MODULE TORCH_COMPILE_FORCE_DISABLE_CACHES TORCH_CACHING_PRECOMPILE
    TORCH_STRICT_PRECOMPILE TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO TORCH_DYNAMO_AUTOMATIC_DYNAMIC_SHAPES
    TORCH_DYNAMO_DO_NOT_EMIT_RUNTIME_ASSERTS TORCH_DYNAMO_RUN_GC_AFTER_COMPILE
    TORCH_ALLOW_TF32_CUBLAS_OVERRIDE TORCH_SHOW_CPP_STACKTRACES TORCH_CUDA_ARCH_LIST
    TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_DEVICE_BACKEND_AUTOLOAD
    TORCH_FAKE_TENSOR_DISPATCH_CACHE TORCH_WARM_POOL TORCH_COMPILER_COLLECTIVES
    TORCHDYNAMO_DISABLE TORCHDYNAMO_VERBOSE TORCHDYNAMO_SUPPRESS_ERRORS TORCHDYNAMO_REPRO_AFTER
    TORCHDYNAMO_REPRO_LEVEL TORCHDYNAMO_DYNAMIC_SHAPES TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
    TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS TORCHDYNAMO_PREPARE_FREEZING TORCHDYNAMO_EXTENDED_DEBUG_CPP
    TORCHDYNAMO_AUTO_FUNCTIONALIZED_V2 TORCHDYNAMO_DEBUG_FUNCTION TORCHDYNAMO_EXTENDED_ADVICE
    TORCHDYNAMO_TRANSLATION_VALIDATION TORCHDYNAMO_INLINE_INBUILT_NN_MODULES
    TORCHINDUCTOR_CACHE_DIR TORCHINDUCTOR_FX_GRAPH_CACHE TORCHINDUCTOR_AUTOGRAD_CACHE
    TORCHINDUCTOR_FORCE_DISABLE_CACHES TORCHINDUCTOR_COMPILE_THREADS TORCHINDUCTOR_WORKER_START
    TORCHINDUCTOR_MAX_AUTOTUNE TORCHINDUCTOR_MAX_AUTOTUNE_GEMM TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS
    TORCHINDUCTOR_MAX_AUTOTUNE_CONV_BACKENDS TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE
    TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC TORCHINDUCTOR_AUTOTUNE_MULTI_DEVICE
    TORCHINDUCTOR_COORDINATE_DESCENT_TUNING TORCHINDUCTOR_CUDAGRAPHS TORCHINDUCTOR_FREEZING
    TORCHINDUCTOR_CPP_WRAPPER TORCHINDUCTOR_CPP_MIN_CHUNK_SIZE TORCHINDUCTOR_CPP_DYNAMIC_THREADS
    TORCHINDUCTOR_CPP_WEIGHT_PREPACK TORCHINDUCTOR_VEC_ISA_OK TORCHINDUCTOR_USE_FAST_MATH
    TORCHINDUCTOR_EMULATE_PRECISION_CASTS TORCHINDUCTOR_DETERMINISTIC TORCHINDUCTOR_GRAPH_PARTITION
    TORCHINDUCTOR_LAYOUT_OPTIMIZATION TORCHINDUCTOR_SHAPE_PADDING TORCHINDUCTOR_COMPREHENSIVE_PADDING
    TORCHINDUCTOR_PERSISTENT_REDUCTIONS TORCHINDUCTOR_SPLIT_REDUCTIONS TORCHINDUCTOR_BENCHMARK_FUSION
    TORCHINDUCTOR_BENCHMARK_KERNEL TORCHINDUCTOR_PROFILE TORCHINDUCTOR_UNIQUE_KERNEL_NAMES
    TORCHINDUCTOR_SIZE_ASSERTS TORCHINDUCTOR_NAN_ASSERTS TORCHINDUCTOR_MEMORY_PLANNING
    TORCHINDUCTOR_DISABLED_PASSES TORCHINDUCTOR_DEBUG_FUSION TORCHINDUCTOR_ONLINE_SOFTMAX
    INDUCTOR_TEST_DISABLE_FRESH_CACHE AOT_PARTITIONER_DEBUG PT2_COMPILE_ID_PREFIX
    PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF PYTORCH_HIP_ALLOC_CONF PYTORCH_NO_CUDA_MEMORY_CACHING
    PYTORCH_NVML_BASED_CUDA_CHECK PYTORCH_JIT PYTORCH_ENABLE_MPS_FALLBACK PYTORCH_TUNABLEOP_ENABLED
    PYTORCH_TUNABLEOP_TUNING PYTORCH_ROCM_ARCH ATEN_CPU_CAPABILITY DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA
    TRITON_CACHE_DIR TRITON_INTERPRET TRITON_PTXAS_PATH TRITON_LIBDEVICE_PATH TRITON_DEBUG
    TRITON_ALWAYS_COMPILE TRITON_PRINT_AUTOTUNING
    CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_LAUNCH_BLOCKING CUDA_HOME CUDA_PATH CUDA_CACHE_PATH
    CUDA_CACHE_DISABLE CUDA_MODULE_LOADING CUBLAS_WORKSPACE_CONFIG NVIDIA_VISIBLE_DEVICES
    NVIDIA_TF32_OVERRIDE HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ROCM_HOME ROCM_PATH
    NCCL_DEBUG NCCL_P2P_DISABLE NCCL_IB_DISABLE NCCL_SOCKET_IFNAME NCCL_ALGO NCCL_PROTO GLOO_SOCKET_IFNAME
    OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES OMP_SCHEDULE OMP_DYNAMIC MKL_NUM_THREADS MKL_DYNAMIC MKL_CBWR
    MKL_DEBUG_CPU_TYPE MKL_ENABLE_INSTRUCTIONS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS KMP_AFFINITY
    KMP_BLOCKTIME GOMP_CPU_AFFINITY
    RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK ROLE_RANK NODE_RANK MASTER_ADDR MASTER_PORT
    CC CXX CUDACXX PYTHONHASHSEED PYTHONOPTIMIZE
    """
RECORDED_VARIABLES = frozenset(_NAMES.split())


def masked_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The recorded variables that are set, by name, without secrets."""
    return {name: masked(environment[name]) for name in sorted(RECORDED_VARIABLES & environment.keys())}


def masked_arguments(arguments: Iterable[str]) -> list[str]:
    """A command line without the values of secret options, truncated where it is very long."""
    masked_parts: list[str] = []
    left = _LONGEST_COMMAND
    is_value = False  # of an option that is named like a secret
    for argument in arguments:
        is_hidden = is_value and not _is_long_option(argument)
        is_value = (
            argument[:1] == "-" and re.fullmatch(_OPTION, argument) is not None and _is_secret(argument)
        )
        text = MASK if is_hidden else masked(argument)
        if left <= 0:
            masked_parts.append("…")
            break
        masked_parts.append(text)
        left -= len(text)
    return masked_parts


def masked(text: str) -> str:
    """The text with everything masked that looks like a secret."""
    if len(text) > _LONGEST_ARGUMENT:
        text = text[:_LONGEST_ARGUMENT] + "…"
    if "@" in text:
        text = re.sub(_USER_OF_URL, f"{MASK}@", text)
        text = re.sub(_USER_AND_PASSWORD, rf"\1{MASK}@", text)
    if "=" in text or ":" in text:
        text = re.sub(_NAMED, _without_value, text)
    if len(text.split()) > 1:
        text = re.sub(_SCHEME, rf"\1{MASK}", text)
    if any(part in text for part in _IN_KNOWN_TOKENS):
        text = re.sub(_KNOWN_TOKEN, MASK, text)
    return text


def _without_value(found: re.Match[str]) -> str:
    quote = found[2][0] if found[2][0] in "\"'" else ""
    return f"{found[1]}{quote}{MASK}{quote}"


def _is_secret(name: str) -> bool:
    return re.search(_SECRET_WORD, re.sub(_CAMEL_CASE, "_", name).lower()) is not None


def _is_long_option(argument: str) -> bool:
    return argument.startswith("--") and argument[2:3].isalpha()

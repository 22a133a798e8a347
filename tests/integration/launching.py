"""Runs `python …` again and again, each time in a process forked from one that has imported torch."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from support.answering import Result

Runner = Callable[..., Result]
"""`run("run", "x.py", env={…})` runs `dynamo run x.py`."""

_SERVER = Path(__file__).resolve().parent / "forking_python.py"
_IMPORTED = (
    *("torch", "torch._dynamo.convert_frame", "torch._dynamo.backends.debugging"),
    *("torch._functorch.aot_autograd", "torch._inductor.compile_fx"),
    "tabulate",  # which torch imports as it ends
    *("dynamo_cli.main", "dynamo_cli.run_command", "dynamo_cli.running", "dynamo_cli.report_commands"),
    *("dynamo_core.launch.run", "dynamo_reporters.explain.report", "dynamo_reporters.page.console"),
)


# What torch imports at the first compile, and at Inductor's first, for which each copy would wait.
_DYNAMOS = "repro.after_dynamo dce_extra_outputs backends.inductor backends.distributed backends.cudagraphs"
_DYNAMOS += " backends.onnxrt backends.tensorrt backends.torchxla backends.tvm"
_INDUCTORS = "cpp_wrapper_cpu_array_ref cpp_wrapper_mps cuda_combined_scheduling halide mps pallas"
_INDUCTORS += " python_wrapper_mtia wrapper_fxir xpu.xpu_combined_scheduling"
_AT_A_COMPILE = (
    *(f"torch._dynamo.{name}" for name in _DYNAMOS.split()),
    *(f"torch._inductor.codegen.{name}" for name in _INDUCTORS.split()),
    *("torch._functorch._aot_autograd.subclass_codegen", "torch._subclasses.schema_check_mode"),
    *("torch._higher_order_ops.passes.inline_invoke_subgraph", "torch.distributed.tensor.experimental"),
    *(f"torch._inductor.{name}" for name in ("bounds", "hooks", "kernel_template_choice", "runtime.caching")),
    *(f"torch._inductor.codegen.{name}device_op_overrides" for name in ("cpu_", "cuda.", "mtia.", "xpu.")),
    *("torch._inductor.codegen.memory_planning", "torch.utils.serialization.config"),
    *("torch.export._trace", "torch.fx.experimental.validator", "torch.utils.cpp_extension"),
    *("sympy.combinatorics", "sympy.physics.units", "sympy.tensor.tensor"),
    "torch._inductor.compiler_bisector",
)


class ForkingPython:
    """A process that has imported torch, and forks whenever it is asked to run something."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = dict(environment)
        self._stdin, self._stdout, self._stderr = (folder / name for name in ("in", "out", "err"))
        self._process = subprocess.Popen(
            [sys.executable, str(_SERVER), *_IMPORTED, *_AT_A_COMPILE],
            env=self._environment | {"PYTHONHASHSEED": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *arguments: str | Path, cwd: Path, more: Mapping[str, str] | None = None, stdin: str = ""
    ) -> Result:
        """Run `python ARGUMENTS` to its end, with `more` in its environment."""
        assert self._process.stdin and self._process.stdout
        self._stdin.write_text(stdin)
        request = {
            "arguments": [str(argument) for argument in arguments],
            "environment": self._environment | dict(more or {}),
            "cwd": str(cwd),
            "stdin": str(self._stdin),
            "stdout": str(self._stdout),
            "stderr": str(self._stderr),
        }
        print(json.dumps(request), file=self._process.stdin, flush=True)
        exit_code = int(self._process.stdout.readline())
        return Result(exit_code, self._stdout.read_text(), self._stderr.read_text())

    def run_anew(self, *arguments: str | Path, cwd: Path, more: Mapping[str, str]) -> Result:
        """Run it as a new process: for variables that torch reads when it is imported, as TORCH_TRACE."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=self._environment | dict(more),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def end(self) -> None:
        """Let it end."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def run_to_end(command: Sequence[str], env: Mapping[str, str], folder: Path, stdin: str = "") -> Result:
    """Run a command; a test that hangs fails after five minutes."""
    finished = subprocess.run(
        command, env=env, cwd=folder, input=stdin, capture_output=True, text=True, timeout=300, check=False
    )
    return Result(finished.returncode, finished.stdout, finished.stderr)

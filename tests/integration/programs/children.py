"""Programs that start others, or become them. The argument names one."""

import os
import signal
import subprocess
import sys
import sysconfig

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401

TELL = (
    "import sys; print(sys.argv, sys.path, sys.flags, 'click' in sys.modules);"
    " sys.stderr.write('to stderr\\n')"
)


def _tell(*arguments: str, **options: object) -> None:
    sys.stdout.flush()
    result = subprocess.run([sys.executable, *arguments], **options)  # type: ignore[call-overload]
    print("ended with", result.returncode, flush=True)


def python() -> None:
    _tell("-c", TELL, "an argument")


def python_that_fails() -> None:
    _tell("-c", "import json; json.loads('{')")


def python_that_dies() -> None:
    _tell("-c", "import os; os.kill(os.getpid(), 9)")


def python_without_environment() -> None:
    _tell("-c", TELL, env={})


def python_with_its_own_path() -> None:
    _tell("-c", TELL, env={**os.environ, "PYTHONPATH": "/somewhere:"})


def python_isolated() -> None:
    _tell("-I", "-c", TELL)


def python_in_another_folder() -> None:
    _tell("-c", TELL, cwd="/")


def python_in_python() -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {TELL!r}])"
    _tell("-c", code)


def python_module() -> None:
    _tell("-m", "json.tool", input=b'{"a": 1}')


def python_reading_from_a_pipe() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "print(input())"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        print(process.communicate("through the pipe"))


def shell() -> None:
    print(os.waitstatus_to_exitcode(os.system("echo from the shell; exit 3")))
    print(subprocess.getstatusoutput("echo again; exit 4"))


def spawned_by_posix() -> None:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", TELL], os.environ)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def spawned_by_os() -> None:
    print(os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", "raise SystemExit(5)"))


def missing_command() -> None:
    subprocess.run(["/there/is/no/such/command"], check=False)


def failing_command() -> None:
    subprocess.run([sys.executable, "-c", "raise SystemExit(5)"], check=True)


def signal_to_a_child() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    process.send_signal(signal.SIGTERM)
    print(process.wait())


def code_before_exec_of_a_child() -> None:
    _tell("-c", TELL, preexec_fn=lambda: os.write(1, b"before exec\n"))


def become_python() -> None:
    os.execv(sys.executable, [sys.executable, "-c", f"{TELL}; sys.exit(9)", "an argument"])


def become_python_without_environment() -> None:
    os.execve(sys.executable, [sys.executable, "-c", TELL], {})


def become_itself() -> None:
    if len(sys.argv) > 2:
        print("again", sys.argv)
        sys.exit(9)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:], "again"])


def become_echo() -> None:
    print("lost, because it is not flushed")
    os.execvp("echo", ["echo", "from echo"])


def become_python_in_a_child() -> None:
    if os.fork() == 0:
        os.execl(sys.executable, sys.executable, "-c", TELL)
    print(os.waitstatus_to_exitcode(os.wait()[1]))


def become_nothing() -> None:
    os.execv("/there/is/no/such/command", ["command"])


def paths_of_the_installation() -> None:
    print(sysconfig.get_paths(), sys.executable, sys.prefix, sys.base_prefix)


if __name__ == "__main__":
    globals()[sys.argv[1]]()

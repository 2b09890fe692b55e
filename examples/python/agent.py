"""A small agent: it plans a step, runs it, looks at what came of it, and decides what is next.

The brain here is a script, so that the example needs no network. Where it stands, a real agent asks a language model:
it gets the same observations and answers with the same kind of steps. The hands are trl's.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Callable

import trl_client
from trl_client import Client, Result, Session, TrlError

PREFIX = "agent-"
"""Names of this agent's sessions: after a crash the next start knows them by it."""

BUSY_RETRIES = 8


@dataclass(frozen=True)
class Run:
    """A step: run a command and wait for its end."""

    command: str
    timeout_s: float = 10
    stdin: str | None = None


@dataclass(frozen=True)
class Watch:
    """A step: run a command that takes long, and show its output as it comes."""

    command: str


@dataclass(frozen=True)
class Done:
    """No step: the task is over, and this is its result."""

    report: str


@dataclass(frozen=True)
class Observation:
    """What came of a step."""

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool = False


@dataclass
class Task:
    """What the user wants, and all that has been seen on the way there."""

    name: str
    history: list[Observation] = field(default_factory=list)
    say: Callable[[str], None] = print


Step = Run | Watch | Done
Brain = Callable[[Task], Step]
"""Decides by what has been seen. The scripted ones are below; a real one asks its model."""


# --- the hands -------------------------------------------------------------------------------------------------------


def work(trl: Client, task: Task, brain: Brain, working_dir: str | None = None) -> str:
    """One session per task: what the task has started is gone with it, whatever happened."""
    with trl.session(name=PREFIX + task.name, working_dir=working_dir) as session:
        while True:
            step = brain(task)
            if isinstance(step, Done):
                return step.report
            task.say(f"  [{task.name}] $ {step.command}")
            task.history.append(run(session, step) if isinstance(step, Run) else watch(task, session, step))


def run(session: Session, step: Run) -> Observation:
    """The partial output of a timeout is worth looking at, so it is an observation like any other."""
    try:
        result = run_with_retry(session, step)
    except TrlError as error:
        if error.code != "COMMAND_TIMEOUT":
            raise
        result = Result.of(error.data)
        return Observation(result.exit_code, result.stdout, result.stderr, timed_out=True)
    return Observation(result.exit_code, result.stdout, result.stderr)


def run_with_retry(session: Session, step: Run) -> Result:
    """Retries what was certainly not run. All other errors are for the brain or for the log."""
    for attempt in range(BUSY_RETRIES):
        try:
            return session.run(step.command, timeout_s=step.timeout_s, stdin=step.stdin)
        except TrlError as error:
            if error.code == "SESSION_BUSY":
                if attempt == 0:
                    print("  the session is busy: waiting")
                time.sleep(0.1 * 2**attempt)
            elif error.code == "SESSION_NOT_FOUND":
                print("  the session is gone: making another")
                session.id = session.client.session(name=PREFIX + "again").id
            else:
                raise
    raise RuntimeError(f"the session stayed busy: {step.command}")


def watch(task: Task, session: Session, step: Watch) -> Observation:
    """A long command, line by line as it prints them."""
    printed = {"stdout": "", "stderr": ""}
    for frame in session.stream(step.command):
        if frame["type"] in printed:
            printed[frame["type"]] += frame["data"]
            for line in frame["data"].splitlines():
                task.say(f"  [{task.name}] | {line}")
        elif frame["type"] == "exit":
            return Observation(frame["exit_code"], printed["stdout"], printed["stderr"], frame["timed_out"])
    raise RuntimeError("the stream has ended without its exit")


# --- the scripted brains ---------------------------------------------------------------------------------------------

BUILD_SCRIPT = """\
echo "compiling"
sleep 0.2
if [ -z "$VERSION" ]; then echo "VERSION is not set" >&2; exit 2; fi
echo "linking $VERSION"
"""


def build_brain(task: Task) -> Step:
    """Writes a project, builds it, reads why that failed, mends it and builds again."""
    if not task.history:
        return Run("cat >build.sh", stdin=BUILD_SCRIPT)
    if task.history[-1].exit_code == 0 and not task.history[-1].stdout:
        return Watch("sh build.sh")
    if "VERSION is not set" in task.history[-1].stderr:
        return Run("export VERSION=1.2.0")  # the session keeps it
    return Done("done" if task.history[-1].exit_code == 0 else "failed")


def tests_brain(task: Task) -> Step:
    """Sees that the time was too short, and gives more. Once."""
    command = "echo 'ran 1 of 2'; sleep 2; echo 'ran 2 of 2'"
    if not task.history:
        return Run(command, timeout_s=0.5)
    if task.history[-1].timed_out and len(task.history) == 1:
        task.say(f"  [{task.name}] out of time after {task.history[-1].stdout.strip()!r}: once more, with more")
        return Run(command, timeout_s=60)
    return Done("passed" if task.history[-1].exit_code == 0 else "failed")


def lint_brain(task: Task) -> Step:
    """A server in the background does not hold the answer up, and is gone with the session."""
    if not task.history:
        return Run("sleep 600 & echo 'no complaints'")
    return Done(task.history[-1].stdout.strip())


# --- the tasks -------------------------------------------------------------------------------------------------------


def start_up(trl: Client) -> None:
    """Is the daemon there, is it well, and has an earlier agent left something behind?"""
    trl.call("system.ping")
    for each in trl.call("session.list")["sessions"]:
        if (each["name"] or "").startswith(PREFIX):
            print(f"  ending {each['name']} of an earlier agent")
            Session(trl, each["session_id"]).destroy()
    print(f"  {trl.call('system.stats')['running_commands']} commands are running")


def in_parallel(trl: Client) -> None:
    """Two tasks at once, a session each, on one connection. What they say is kept apart until both are done."""
    talk: dict[str, list[str]] = {"tests": [], "lint": []}
    brains = {"tests": tests_brain, "lint": lint_brain}
    with ThreadPoolExecutor() as pool:
        tasks = {name: Task(name, say=talk[name].append) for name in brains}
        reports = {name: pool.submit(work, trl, tasks[name], brain) for name, brain in brains.items()}
    for name, report in reports.items():
        print(*talk[name], f"  {name}: {report.result()}", sep="\n")


def by_error_code(trl: Client) -> None:
    """What to do is decided by the code of an error, never by its message."""
    with trl.session(name=PREFIX + "shared") as session:
        with closing(session.stream("echo started; sleep 0.5")) as stream:
            next(stream)
            print(f"  exit code {run_with_retry(session, Run('true')).exit_code}")
        trl.call("session.destroy", session_id=session.id)  # as a client that tidies up would do
        print(f"  exit code {run_with_retry(session, Run('true')).exit_code}")


def in_a_terminal(trl: Client) -> None:
    """A REPL wants a terminal. Wait for its prompt, type, wait for the answer and the next prompt, read the screen."""
    plain = {"PYTHON_BASIC_REPL": "1", "PYTHONSTARTUP": None}
    with trl.terminal("python3", ["-q"], env=plain, cols=40, rows=6, name=PREFIX + "repl") as repl:
        repl.wait(regex="^>>> $")
        repl.type("sum(range(10))\r")
        repl.wait(regex="^45\n>>> $")
        repl.type("exit(3)\r")
        repl.wait(exit=True)
        for line in repl.screen():
            print(f"  {line}")
        print(f"  exit code {repl.close()['exit_code']}")


def main() -> int:
    try:
        trl = trl_client.connect(sys.argv[1] if len(sys.argv) > 1 else None)
    except OSError as error:
        print(f"agent: there is no daemon: {error}\n       start one with: trl serve", file=sys.stderr)
        return 69
    with trl:
        print("start")
        start_up(trl)
        print("build")
        with TemporaryDirectory() as project:
            print(f"  build: {work(trl, Task('build'), build_brain, project)}")
        print("in parallel")
        in_parallel(trl)
        print("by error code")
        by_error_code(trl)
        print("in a terminal")
        in_a_terminal(trl)
        left = [each for each in trl.call("session.list")["sessions"] if (each["name"] or "").startswith(PREFIX)]
        print(f"left behind: {len(left)} sessions")
    return 0


if __name__ == "__main__":
    sys.exit(main())

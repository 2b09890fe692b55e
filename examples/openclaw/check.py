"""Plays the part of claw_core's OpenClaw plugin against an executable, and says whether it would do.

    python3 check.py /path/to/trl

It starts the executable as the plugin's launcher does, makes the calls that the plugin and its skills make, one
connection each, and stops it as the launcher does. All of it on a socket of its own: a daemon that runs is let be.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

START_LIMIT_S = 10  # the launcher looks for the socket twenty times, half a second apart
STOP_LIMIT_S = 5  # the launcher sends SIGKILL after one second; a busy machine is not the executable's fault
SHELL = "/bin/zsh"  # the plugin asks for it by this path


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 64
    with tempfile.TemporaryDirectory() as directory:
        try:
            check(sys.argv[1], Path(directory))
        except (AssertionError, OSError, ValueError) as error:
            print(f"no: {error}")
            return 1
    return 0


def check(binary: str, directory: Path) -> None:
    sock = directory / "trl.sock"
    log = directory / "claw_core.log"
    with log.open("ab") as output:
        daemon = subprocess.Popen(
            ["nohup", binary, "--socket-path", str(sock)], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        wait_for_socket(daemon, sock, log)
        print("ok: starts in the foreground and listens on the socket")
        check_calls(sock, directory)
        daemon.send_signal(signal.SIGTERM)
        try:
            code = daemon.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"SIGTERM did not end it within {STOP_LIMIT_S} s") from None
        assert code == 0 and not sock.exists(), f"it ended with {code}, and left {os.listdir(directory)}"
        print("ok: ends on SIGTERM, and takes the socket with it")
    finally:
        daemon.kill()
        daemon.wait()


def wait_for_socket(daemon: subprocess.Popen[bytes], sock: Path, log: Path) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while not sock.is_socket():
        assert daemon.poll() is None, f"it ended with {daemon.returncode}:\n{log.read_text()}"
        assert time.monotonic() < deadline, f"there was no socket after {START_LIMIT_S} s"
        time.sleep(0.02)


def check_calls(sock: Path, directory: Path) -> None:
    assert Path(SHELL).exists(), f"the plugin runs every command in {SHELL}: install zsh"

    def call(method: str, **params: Any) -> dict[str, Any]:
        reply = send(sock, {"id": str(uuid.uuid4()), "method": method, "params": params})
        assert reply["ok"], f"{method}: {reply['error']}"
        data: dict[str, Any] = reply["data"]
        return data

    expect_fields("system.ping", call("system.ping"), "uptime_s", "version")
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    made = call("session.create", working_dir=str(directory), shell=SHELL, timeout_s=30, env=env)
    session_id = made["session_id"]
    run = call("exec.run", session_id=session_id, command="pwd; echo careful >&2; exit 3", timeout_s=30)
    seen = (Path(run["stdout"].rstrip("\n")).resolve(), run["stderr"], run["exit_code"])
    assert seen == (directory.resolve(), "careful\n", 3), f"exec.run: {run}"
    print(f"ok: runs a command in {SHELL} and passes on its output and its exit code")
    (listed,) = call("session.list")["sessions"]
    expect_fields("session.list", listed, "session_id", "name", "state", "working_dir", "created_at", "last_activity")
    expect_fields("session.info", call("session.info", session_id=session_id), "session_id", "state", "working_dir")
    expect_fields("system.stats", call("system.stats"), "uptime_s", "total_commands_run", "active_sessions", "open_fds")
    print("ok: has what the status page and the skills ask for")
    call("session.destroy", session_id=session_id, force=True)
    assert call("session.list")["sessions"] == [], "a destroyed session is still listed"
    print("ok: destroys the session")


def send(sock: Path, request: dict[str, Any]) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(sock))
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("rb") as lines:
            line = lines.readline()
    assert line, f"{request['method']}: the connection was closed without an answer"
    reply: dict[str, Any] = json.loads(line)
    assert reply["id"] == request["id"], f"another id came back: {reply}"
    return reply


def expect_fields(method: str, data: dict[str, Any], *names: str) -> None:
    missing = [name for name in names if name not in data]
    assert not missing, f"{method} has no {', '.join(missing)}"


if __name__ == "__main__":
    sys.exit(main())

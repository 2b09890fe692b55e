"""A client for trl in one file, standard library only: copy it beside your agent.

    import trl_client

    with trl_client.connect() as trl, trl.session(name="agent-build") as session:
        result = session.run("make test", timeout_s=300)
        print(result.exit_code, result.stdout)

One connection serves all threads: requests run at once, and replies find the thread that waits for them.
What the params mean is in docs/protocol.md; every keyword argument is passed on as it is.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import socket
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Iterator

Frame = dict[str, Any]


class TrlError(Exception):
    """The daemon said no. Decide by `code`; `data` has the partial result of a timeout."""

    def __init__(self, error: Frame) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.data: Frame = error.get("data") or {}


@dataclass(frozen=True)
class Result:
    """How a command ended. A non-zero exit code is a result, not an error."""

    stdout: str
    stderr: str
    exit_code: int
    reason: str
    truncated: bool
    leftovers: list[Frame]
    working_dir: str

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0

    @staticmethod
    def of(data: Frame) -> Result:
        """From the data of a reply, or of a TrlError with the code COMMAND_TIMEOUT."""
        return Result(**{name: data[name] for name in Result.__dataclass_fields__})


def connect(path: str | None = None) -> Client:
    """Connects to the daemon at `path`, else TRL_SOCKET_PATH, else /tmp/trl.sock."""
    return Client(path or os.environ.get("TRL_SOCKET_PATH") or "/tmp/trl.sock")


class Client:
    """One connection to the daemon, for any number of threads."""

    def __init__(self, path: str) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.connect(path)
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._is_closed = False
        # Where a reply goes, by the request's id; where a stream's frames go, by the stream's.
        self._replies: dict[int, queue.SimpleQueue[Frame | None]] = {}
        self._streams: dict[str, queue.SimpleQueue[Frame | None]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def call(self, method: str, **params: Any) -> Frame:
        """Sends a request and waits for its reply. Raises TrlError, or ConnectionError where the daemon is gone."""
        replies: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        with self._lock:
            if self._is_closed:
                raise ConnectionError("the daemon has closed the connection")
            request_id = next(self._ids)
            self._replies[request_id] = replies
            request = {"id": request_id, "method": method, "params": params}
            self._sock.sendall(json.dumps(request).encode() + b"\n")
        reply = replies.get()
        if reply is None:
            raise ConnectionError(f"the connection was lost before {method} was answered")
        if not reply["ok"]:
            raise TrlError(reply["error"])
        data: Frame = reply["data"]
        return data

    def session(self, **params: Any) -> Session:
        """A new session, for a `with` statement: at its end everything that was started is dead."""
        return Session(self, self.call("session.create", **params)["session_id"])

    def terminal(self, command: str, args: list[str] | None = None, **params: Any) -> Terminal:
        """A program on a terminal of its own, for a `with` statement."""
        return Terminal(self, self.call("pty.create", command=command, args=args, **params)["session_id"])

    def frames(self, stream_id: str) -> Iterator[Frame]:
        """The frames of a stream that this connection started or attached to, up to the last one."""
        frames = self._frames_of(stream_id)
        try:
            while (frame := frames.get()) is not None:
                yield frame
                if frame["type"] in ("exit", "lagged"):
                    return
            raise ConnectionError(f"the connection was lost; go on with exec.attach of {stream_id}")
        finally:
            with self._lock:
                self._streams.pop(stream_id, None)

    def close(self) -> None:
        """Commands go on; what sessions have started is ended by their own `with` statements."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the daemon was first
        self._sock.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        try:
            with self._sock.makefile("rb") as lines:
                for line in lines:
                    self._deliver(json.loads(line))
        except OSError:
            pass  # closed by this side
        with self._lock:
            self._is_closed = True
            waiting = [*self._replies.values(), *self._streams.values()]
        for each in waiting:
            each.put(None)

    def _deliver(self, frame: Frame) -> None:
        if "id" in frame:
            with self._lock:
                replies = self._replies.pop(frame["id"], None)
            if replies:
                replies.put(frame)
        elif "stream_id" in frame:
            self._frames_of(frame["stream_id"]).put(frame)

    def _frames_of(self, stream_id: str) -> queue.SimpleQueue[Frame | None]:
        """The first frame may come before the thread that asked has read the reply."""
        with self._lock:
            frames = self._streams.setdefault(stream_id, queue.SimpleQueue())
            if self._is_closed:
                frames.put(None)
            return frames


class Session:
    """A shell's state that lives from command to command. One command at a time."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client = client
        self.id = session_id

    def run(self, command: str, **params: Any) -> Result:
        """Runs a command and waits for its end. A time limit that is reached is a TrlError, COMMAND_TIMEOUT."""
        return Result.of(self.client.call("exec.run", session_id=self.id, command=command, **params))

    def stream(self, command: str, **params: Any) -> Iterator[Frame]:
        """Runs a command and yields its frames as they come; the last one is of type `exit`.

        Leaving the loop early stops the command, and the session is free again.
        """
        stream_id = self.client.call("exec.stream", session_id=self.id, command=command, **params)["stream_id"]
        frames = self.client.frames(stream_id)
        try:
            for frame in frames:
                yield frame
        except GeneratorExit:
            self.client.call("exec.cancel", stream_id=stream_id)
            for _ in frames:
                pass  # up to its end
            raise

    def destroy(self) -> None:
        """Ends the session with everything that it started. One that is gone already is fine."""
        try:
            self.client.call("session.destroy", session_id=self.id, force=True)
        except TrlError as error:
            if error.code != "SESSION_NOT_FOUND":
                raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.destroy()


class Terminal:
    """A program that wants a terminal: keys go in, the screen comes out as text."""

    def __init__(self, client: Client, session_id: str) -> None:
        self.client = client
        self.id = session_id

    def type(self, keys: str) -> None:
        """Types as a person would: Enter is `\\r`, Escape `\\x1b`, ^C `\\x03`."""
        self.client.call("pty.write", session_id=self.id, data=keys)

    def wait(self, timeout_s: float = 10, **until: Any) -> str:
        """Waits for `text`, `regex`, `idle_ms` or `exit=True`. Says which it was, or `timeout`."""
        matched: str = self.client.call("pty.wait", session_id=self.id, until=until, timeout_s=timeout_s)["matched"]
        return matched

    def screen(self) -> list[str]:
        """The lines of the screen, the empty ones at its end left out."""
        lines: list[str] = self.client.call("pty.snapshot", session_id=self.id)["lines"]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def close(self) -> Frame:
        """Ends the program with everything that it started, and says how it ended."""
        return self.client.call("pty.close", session_id=self.id)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

// Clients and launchers written for claw_core work unchanged.
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { binary } from "../support/program.ts";
import { tempDir } from "../support/temp-dir.ts";

const pythonAgent = `
import json, socket, sys
from uuid import uuid4

sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
sock.connect(sys.argv[1])

def send_request(method, params=None):
    request = {"id": str(uuid4()), "method": method, "params": params or {}}
    sock.sendall((json.dumps(request) + "\\n").encode())
    response = json.loads(sock.makefile().readline())
    assert response["id"] == request["id"], response
    return response

assert send_request("system.ping")["ok"]
for s in send_request("session.list")["data"]["sessions"]:
    send_request("session.destroy", {"session_id": s["session_id"]})
result = send_request("session.create", {
    "shell": "/bin/zsh", "name": "build-env", "working_dir": "/tmp",
    "env": {"NODE_ENV": "development", "PATH": "/usr/local/bin:/usr/bin:/bin"}})
session_id = result["data"]["session_id"]
result = send_request("exec.run", {"session_id": session_id, "command": "echo $NODE_ENV && echo warn >&2", "timeout_s": 120})
assert result["data"]["stdout"] == "development\\n", result
assert result["data"]["stderr"] == "warn\\n", result
assert result["data"]["exit_code"] == 0 and isinstance(result["data"]["duration_ms"], int), result
result = send_request("exec.run", {"session_id": session_id, "command": "sleep 9", "timeout_s": 1})
assert not result["ok"] and result["error"]["code"] == "COMMAND_TIMEOUT", result
assert send_request("exec.run", {"session_id": "s-00000000", "command": "x"})["error"]["code"] == "SESSION_NOT_FOUND"
stats = send_request("system.stats")["data"]
assert stats["active_sessions"] == 1 and stats["total_commands_run"] == 2, stats
assert send_request("session.destroy", {"session_id": session_id})["data"]["state"] == "terminated"
print("fine")
`;

needs("python3", "zsh").test("the Python agent of the integration guide", async () => {
  await using daemon = await startDaemon();
  const result = Bun.spawnSync(["python3", "-c", pythonAgent, daemon.socketPath]);
  expect(result.stderr.toString()).toBe("");
  expect(result.stdout.toString()).toBe("fine\n");
});

needs("socat", "zsh").test(
  "a launcher script: start in the foreground, wait for the socket, ask by socat, stop by pid",
  () => {
    using dir = tempDir();
    const socket = join(dir.path, "claw.sock");
    const launcher = `
set -e
"$BINARY" --socket-path "$SOCK" >"$DIR/log" 2>&1 &
PID=$!
trap 'kill $PID 2>/dev/null' EXIT
for i in $(seq 1 100); do [ -S "$SOCK" ] && break; sleep 0.1; done
[ -S "$SOCK" ] || { echo "no socket"; exit 1; }
send() { echo "$1" | socat -t 20 - UNIX-CONNECT:"$SOCK"; } # its own patience is half a second
send '{"id":"1","method":"system.ping","params":{}}' | grep -q '"ok":true'
SID=$(send '{"id":"2","method":"session.create","params":{"shell":"/bin/zsh"}}' | grep -o 's-[0-9a-f]*')
send '{"id":"3","method":"exec.run","params":{"session_id":"'$SID'","command":"echo hello"}}' | grep -q '"stdout":"hello\\\\n"'
send '{"id":"4","method":"session.list","params":{}}' | grep -q "$SID"
send '{"id":"5","method":"session.destroy","params":{"session_id":"'$SID'"}}' | grep -q terminated
kill $PID
for i in $(seq 1 100); do kill -0 $PID 2>/dev/null || break; sleep 0.1; done
! kill -0 $PID 2>/dev/null
echo stopped
`;
    const result = Bun.spawnSync(["bash", "-c", launcher], {
      env: {
        PATH: process.env["PATH"],
        TRL_RUNTIME_DIR: process.env["TRL_RUNTIME_DIR"],
        BINARY: binary,
        SOCK: socket,
        DIR: dir.path,
      } as Record<string, string>,
    });
    expect(result.stderr.toString()).toBe("");
    expect(result.stdout.toString()).toBe("stopped\n");
    expect(existsSync(socket)).toBe(false);
  },
);

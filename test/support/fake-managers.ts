// systemctl, loginctl and launchctl that keep a list of what was asked of them, and start what they are told to start.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

/** Not that of program.ts: unit tests run without a build, and start nothing. */
const binary = join(import.meta.dir, "../../dist/trl");

export interface FakeManagers extends Disposable {
  home: string;
  socketPath: string;
  /** For the program under test. */
  env: Record<string, string>;
  /** What was asked so far, a line each. */
  asked(): string[];
}

const scripts = {
  systemctl: `
case "$*" in
  *show-environment*) [ ! -e "$FAKE_DIR/no-session" ] ;;
  *--property=*)
    if [ -e "$FAKE_DIR/pid" ]; then
      printf 'UnitFileState=enabled\\nActiveState=active\\nMainPID=%s\\n' "$(cat "$FAKE_DIR/pid")"
    else printf 'UnitFileState=\\nActiveState=inactive\\nMainPID=0\\n'; fi ;;
  *"enable --now"*) start ;;
  *"disable --now"*) end ;;
esac`,
  launchctl: `
case "$*" in
  "print gui/"*/trl)
    [ -e "$FAKE_DIR/loaded" ] && [ ! -e "$FAKE_DIR/pid" ] && { echo 'gui/501/trl = {'; exit; }
    [ -e "$FAKE_DIR/pid" ] || exit 113
    printf 'gui/501/trl = {\\n\\tstate = running\\n\\tpid = %s\\n}\\n' "$(cat "$FAKE_DIR/pid")" ;;
  bootstrap*)
    [ -e "$FAKE_DIR/loaded" ] && { echo 'Bootstrap failed: 37: Operation already in progress' >&2; exit 37; }
    [ -e "$FAKE_DIR/ending" ] && { read -r left <"$FAKE_DIR/ending"; } || left=0
    [ "$left" -gt 0 ] && { echo $((left - 1)) >"$FAKE_DIR/ending"; echo 'Bootstrap failed: 5: Input/output error' >&2; exit 5; }
    start && touch "$FAKE_DIR/loaded" ;;
  bootout*)
    rm -f "$FAKE_DIR/loaded"
    echo 2 >"$FAKE_DIR/ending"
    [ ! -e "$FAKE_DIR/pid" ] || end ;;
esac`,
  loginctl: "echo no",
};

const common = `#!/bin/sh
start() {
  [ -e "$FAKE_DIR/fails" ] && { echo "Job failed. See the log." >&2; exit 1; }
  "$FAKE_BINARY" serve --socket-path "$FAKE_SOCKET" --allow-root </dev/null >/dev/null 2>&1 &
  echo $! >"$FAKE_DIR/pid"
}
end() { kill "$(cat "$FAKE_DIR/pid")"; rm "$FAKE_DIR/pid"; }
echo "\${0##*/} $*" >>"$FAKE_DIR/asked"
`;

export function fakeManagers(): FakeManagers {
  const dir = tempDir();
  const bin = join(dir.path, "bin");
  mkdirSync(bin);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), common + script);
    chmodSync(join(bin, name), 0o755);
  }
  const socketPath = join(dir.path, "trl.sock");
  const pidFile = join(dir.path, "pid");
  const asked = join(dir.path, "asked");
  return {
    home: dir.path,
    socketPath,
    env: {
      HOME: dir.path,
      PATH: `${bin}:/usr/bin:/bin`,
      FAKE_DIR: dir.path,
      FAKE_BINARY: binary,
      FAKE_SOCKET: socketPath,
      TRL_SOCKET_PATH: socketPath,
    },
    asked: () => (existsSync(asked) ? readFileSync(asked, "utf8").trim().split("\n") : []),
    [Symbol.dispose]() {
      if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, "utf8")));
      dir[Symbol.dispose]();
    },
  };
}

// What is run on the far side, by whatever `sh` is there: one script finds the executable and becomes the bridge to the
// daemon, the other receives the executable. Over ssh they pass through the user's own shell first, which may be any
// (bash, zsh, fish, csh): between single quotes these agree only on text without quotes, backslashes, exclamation
// marks and line breaks, so the scripts have none.
import { dirname } from "node:path";
import { trustedDirsVariable } from "../../util/trusted-socket.ts";

export interface RemoteExecutable {
  /** `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. */
  target: string;
  sha256: string;
  /** Version and checksum: names the directory it lies in, so that another build never takes its place. */
  key: string;
}

export interface ConnectScript {
  /** Begins each line that is meant for us; what greetings and start files print has no such line. */
  mark: string;
  /** Those that are known so far; the far side picks its own. */
  executables: readonly RemoteExecutable[];
  /** Undefined for one of its own, in a directory of the user's. */
  socketPath: string | undefined;
  /** Where there is no daemon none is started, and nothing is asked for. */
  merelyLooks: boolean;
  /** Its users trust one another: a /tmp without the sticky bit, as volumes have it, will do for a socket. */
  isContainer: boolean;
  /** For a daemon that is started. */
  serveFlags: readonly string[];
}

/** Where the executable may lie. The second is for those without a home that can be written to. */
const places = [
  "umask 077;",
  "u=$(id -u);",
  "r=${TRL_RUNTIME_DIR:-/tmp/trl-$u};",
  'a="${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/trl";',
  // Others can write to /tmp: what lies there must be a directory of ours.
  'own() { if [ -L "$1" ]; then return 1; fi; mkdir -m 700 "$1" 2>/dev/null; [ -d "$1" ] && [ -O "$1" ]; };',
];

const checksum =
  'sum() { { sha256sum "$1" || shasum -a 256 "$1" || openssl dgst -sha256 -r "$1"; } 2>/dev/null; };';

/** The name of the build that runs here. A musl beside a glibc is somebody's extra, unless ldd is musl's. */
const target = [
  "set -- $(uname -sm);",
  "case $1 in Linux) o=linux;; Darwin) o=darwin;; *) o=$1;; esac;",
  "case $2 in x86_64|amd64) m=x64;; aarch64|arm64) m=arm64;; *) m=$2;; esac;",
  "t=$o-$m; g=; l=;",
  'for f in /lib64/ld-linux* /lib/ld-linux*; do if [ -e "$f" ]; then g=1; fi; done;',
  'for f in /lib/ld-musl*; do if [ -e "$f" ]; then l=1; fi; done;',
  "case $g$l in 11) case $(ldd --version 2>&1) in *musl*) ;; *) l=;; esac;; esac;",
  "case $o$l in linux1) t=$t-musl;; esac;",
];

export function connectScript(given: ConnectScript): string {
  const { mark, executables, socketPath, merelyLooks, isContainer, serveFlags } = given;
  const known = executables.map((it) => `${it.target}) k=${it.key}; s=${it.sha256};;`).join(" ");
  const flags = serveFlags.map(plainWord).join(" ");
  const start = merelyLooks
    ? `if [ -S "$p" ]; then :; else echo "${mark} nobody"; exit; fi;`
    : // It is read whole only before it becomes a daemon: each bridge would pay for it.
      'if [ -S "$p" ]; then :; else case $(sum "$x") in $s*) ;; *) need;; esac; fi;';
  return checked(
    [
      ...places,
      ...target,
      checksum,
      `k=; x=; case $t in ${known} *) ;; esac;`,
      "z=plain; if command -v gunzip >/dev/null 2>&1; then z=gzip; fi;",
      `need() { echo "${mark} ${merelyLooks ? "nobody" : "need $t $z"}"; exit; };`,
      'if [ -z "$k" ]; then need; fi;',
      `if own "$r"; then :; else echo "${mark} refused $r is not a directory of this user"; exit; fi;`,
      'for d in "$r/bin" "$a"; do if [ -x "$d/$k/trl" ]; then x="$d/$k/trl"; fi; done;',
      'if [ -z "$x" ]; then need; fi;',
      `p=${socketPath === undefined ? "$r/$k.sock" : plainWord(socketPath)};`,
      start,
      ...(isContainer ? [trusting(socketPath)] : []),
      // They are the link's, and the daemon outlives it.
      "unset SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_AUTH_SOCK;",
      `exec "$x" dial-stdio --socket-path "$p" --hang-up --greeting "${mark} ready"`,
      // What a login brings into being ($XDG_RUNTIME_DIR, /dev/shm) may go with the user's last one.
      merelyLooks ? "--no-start" : `-- --runtime-dir "$r" --run-dir "$r" ${flags}`,
    ].join(" "),
  );
}

function trusting(socketPath: string | undefined): string {
  const dirs = ["/tmp", ...(socketPath === undefined ? [] : [plainWord(dirname(socketPath))])];
  return `export ${trustedDirsVariable}="\${${trustedDirsVariable}:-${dirs.join(":")}}";`;
}

export interface CopyScript {
  mark: string;
  /** Of the file that is written before it is the executable: several may come at once. */
  nonce: string;
  executable: RemoteExecutable;
  isCompressed: boolean;
}

/** Takes the file on its standard input. It is there whole and checked, or not at all. */
export function copyScript({ mark, nonce, executable, isCompressed }: CopyScript): string {
  const { key, sha256 } = executable;
  return checked(
    [
      ...places,
      checksum,
      'f=; tidy() { if [ -n "$f" ]; then rm -f "$f"; fi; }; trap tidy EXIT; trap "exit 1" HUP INT TERM;',
      // A directory counts where programs in it may be run: some are mounted so that they may not.
      `try() { mkdir -p "$1/${key}" 2>/dev/null || return 1; n="$1/${key}/.${nonce}";`,
      '{ : >"$n"; } 2>/dev/null || return 1; chmod 700 "$n";',
      'if [ -x "$n" ]; then f="$n"; e="$1"; else rm -f "$n"; return 1; fi; };',
      'try "$a" || { own "$r" && try "$r/bin"; } ||',
      `{ echo "${mark} refused neither $a nor $r can hold a program that may be run"; exit; };`,
      `${isCompressed ? "gunzip -c" : "cat"} >"$f" || exit 1;`,
      `case $(sum "$f") in ${sha256}*) ;;`,
      `"") echo "${mark} refused there is neither sha256sum nor shasum nor openssl"; exit;;`,
      `*) echo "${mark} damaged"; exit;; esac;`,
      `mv -f "$f" "$e/${key}/trl" || exit 1; f=;`,
      // Builds that nobody has copied for a month make room.
      'find "$e" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} + 2>/dev/null;',
      `echo "${mark} copied"`,
    ].join(" "),
  );
}

/** Words of ours in the scripts: without anything that a shell could see something in. */
function plainWord(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word;
  throw new Error(`"${word}" holds characters that cannot be passed on to every shell`);
}

function checked(script: string): string {
  const foreign = /['!\\\n]/.exec(script)?.[0];
  if (foreign !== undefined) throw new Error(`the script for the far side holds ${JSON.stringify(foreign)}`);
  return script;
}

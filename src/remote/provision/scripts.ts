// Scripts for `sh` in a runtime: one finds the executable and execs the bridge to the daemon, the other receives the
// executable. Over ssh they pass through the user's login shell (bash, zsh, fish, csh). Within single quotes, these
// shells agree only on text without quotes, backslashes, exclamation marks and line breaks: the scripts contain none.
import { dirname } from "node:path";
import { trustedDirsVariable } from "../../util/trusted-socket.ts";

export interface RemoteExecutable {
  /** `linux-x64`, `linux-arm64-musl`, `darwin-arm64`. */
  target: string;
  sha256: string;
  /** Version and checksum: the name of its directory, so that builds do not overwrite one another. */
  key: string;
}

export interface ConnectScript {
  /** Prefix of the answer, which distinguishes it from output of banners and start files. */
  mark: string;
  /** The known builds; the script picks the one for its platform. */
  executables: readonly RemoteExecutable[];
  /** Undefined for the default socket, in a directory of the user. */
  socketPath: string | undefined;
  /** Start no daemon and request no copy. */
  onlyIfRunning: boolean;
  /** No users share the file system, so a /tmp without the sticky bit, as on volumes, is safe for a socket. */
  isContainer: boolean;
  /** Flags for a daemon that the script starts. */
  serveFlags: readonly string[];
}

/** Directories for the executable: $a, or below $r if the home directory is not writable. */
const directories = [
  "umask 077;",
  "u=$(id -u);",
  "r=${TRL_RUNTIME_DIR:-/tmp/trl-$u};",
  'a="${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/trl";',
  // Other users can write to /tmp, so $r must be a directory, and owned by this user.
  'own() { if [ -L "$1" ]; then return 1; fi; mkdir -m 700 "$1" 2>/dev/null; [ -d "$1" ] && [ -O "$1" ]; };',
];

const checksum =
  'sum() { { sha256sum "$1" || shasum -a 256 "$1" || openssl dgst -sha256 -r "$1"; } 2>/dev/null; };';

/** Computes the target. A musl loader beside glibc's is an extra package, unless ldd belongs to musl. */
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
  const { mark, executables, socketPath, onlyIfRunning, isContainer, serveFlags } = given;
  const known = executables.map((it) => `${it.target}) k=${it.key}; s=${it.sha256};;`).join(" ");
  const flags = serveFlags.map(plainWord).join(" ");
  const start = onlyIfRunning
    ? `if [ -S "$p" ]; then :; else echo "${mark} absent"; exit; fi;`
    : // The checksum is verified only before a daemon starts: it would slow down every bridge.
      'if [ -S "$p" ]; then :; else case $(sum "$x") in $s*) ;; *) need;; esac; fi;';
  return checked(
    [
      ...directories,
      ...target,
      checksum,
      `k=; x=; case $t in ${known} *) ;; esac;`,
      "z=plain; if command -v gunzip >/dev/null 2>&1; then z=gzip; fi;",
      `need() { echo "${mark} ${onlyIfRunning ? "absent" : "need $t $z"}"; exit; };`,
      'if [ -z "$k" ]; then need; fi;',
      `if own "$r"; then :; else echo "${mark} refused $r is not a directory of this user"; exit; fi;`,
      'for d in "$r/bin" "$a"; do if [ -x "$d/$k/trl" ]; then x="$d/$k/trl"; fi; done;',
      'if [ -z "$x" ]; then need; fi;',
      `p=${socketPath === undefined ? "$r/$k.sock" : plainWord(socketPath)};`,
      start,
      ...(isContainer ? [trusting(socketPath)] : []),
      // These variables belong to the link, and the daemon outlives it.
      "unset SSH_CLIENT SSH_CONNECTION SSH_TTY SSH_AUTH_SOCK;",
      `exec "$x" dial-stdio --socket-path "$p" --hang-up --greeting "${mark} ready"`,
      // $XDG_RUNTIME_DIR and /dev/shm may be removed with the user's last login, so the daemon uses $r.
      onlyIfRunning ? "--no-start" : `-- --runtime-dir "$r" --run-dir "$r" ${flags}`,
    ].join(" "),
  );
}

function trusting(socketPath: string | undefined): string {
  const dirs = ["/tmp", ...(socketPath === undefined ? [] : [plainWord(dirname(socketPath))])];
  return `export ${trustedDirsVariable}="\${${trustedDirsVariable}:-${dirs.join(":")}}";`;
}

export interface CopyScript {
  mark: string;
  /** Part of the temporary file's name, since several copies may run at once. */
  nonce: string;
  executable: RemoteExecutable;
  isCompressed: boolean;
}

/** Reads the file from standard input. The rename after the checksum makes the copy atomic. */
export function copyScript({ mark, nonce, executable, isCompressed }: CopyScript): string {
  const { key, sha256 } = executable;
  return checked(
    [
      ...directories,
      checksum,
      'f=; tidy() { if [ -n "$f" ]; then rm -f "$f"; fi; }; trap tidy EXIT; trap "exit 1" HUP INT TERM;',
      // A directory mounted with noexec does not fit, which `-x` shows.
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
      // Removes builds that were copied more than a month ago.
      'find "$e" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} + 2>/dev/null;',
      `echo "${mark} copied"`,
    ].join(" "),
  );
}

/** Throws if the word contains a character that is special to any shell. */
function plainWord(word: string): string {
  if (/^[\w@%+=:,./~-]+$/.test(word)) return word;
  throw new Error(`"${word}" contains characters that cannot be passed on to every shell`);
}

function checked(script: string): string {
  const foreign = /['!\\\n]/.exec(script)?.[0];
  if (foreign !== undefined) throw new Error(`the remote script contains ${JSON.stringify(foreign)}`);
  return script;
}

// Checks that no other user can replace the daemon's socket with their own: clients would send them commands, secrets and
// the token. No other user may control a directory on the path to the socket, as sshd demands for its files (StrictModes).
import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

/** Directories, separated by colons, that count as safe with all their parents, whatever their owner and mode. */
export const trustedDirsVariable = "TRL_TRUSTED_DIRS";

type Environment = Record<string, string | undefined>;

export interface Untrusted {
  /** Names the directory or link, and the reason. */
  problem: string;
  remedy: string;
}

const writableByOthers = 0o022;
const writableByAll = 0o002;
const sticky = 0o1000;
const linksMax = 40;

/**
 * The first directory on the path to `directory`, itself included, that another user controls. Symbolic links are
 * resolved here one by one, because the owner of a link controls its target. Throws if `directory` does not exist.
 */
export function untrustedPart(directory: string, env: Environment): Untrusted | undefined {
  if (!process.getuid) return undefined;
  const trustedDirs = realDirs(env[trustedDirsVariable]);
  let found: Untrusted | undefined;
  let at = "/";
  let links = 0;
  for (let rest = partsOf(absolute(directory)); ; ) {
    found = trustedDirs.includes(at) ? undefined : (found ?? problemOf(at));
    const [name, ...after] = rest;
    if (name === undefined) return found;
    const next = join(at, name); // resolves a ".." correctly, as `at` contains no links
    const stat = lstatSync(next);
    if (!stat.isSymbolicLink()) {
      at = next;
      rest = after;
      continue;
    }
    if (++links > linksMax) throw tooManyLinks(directory);
    if (!isTrusted(stat.uid)) found ??= foreign(next, stat);
    const target = readlinkSync(next);
    if (target.startsWith("/")) at = "/";
    rest = [...partsOf(target), ...after];
  }
}

/**
 * Throws if another user may be listening there, or with the system's error if there is no socket. Called before
 * connecting and again afterwards: after the owner removes a name from a sticky directory, another user can take it.
 */
export function requireTrustedSocket(socketPath: string, env: Environment): void {
  let path = absolute(socketPath);
  for (let links = 0; links <= linksMax; links++) {
    const directory = dirname(path);
    const { problem, remedy } = untrustedPart(directory, env) ?? {};
    if (problem) throw new Error(`${problem}; ${remedy}`);
    const stat = lstatSync(path);
    const realDir = realpathSync(directory);
    const isSafe =
      !process.getuid || isTrusted(stat.uid) || (lstatSync(realDir).mode & writableByOthers) === 0;
    if (!isSafe) throw new Error(`${path} belongs to another user (uid ${stat.uid}); ${ownDir}`);
    if (!stat.isSymbolicLink()) return;
    // connect() follows the link, so the target and its directories are checked as well.
    const target = readlinkSync(path);
    path = target.startsWith("/") ? target : `${realDir}/${target}`;
  }
  throw tooManyLinks(socketPath);
}

const tooManyLinks = (path: string) =>
  Object.assign(new Error(`ELOOP: too many links, ${path}`), { code: "ELOOP" });

/** Keeps each "..": after a link it refers to the parent of the target. */
const absolute = (path: string) => (path.startsWith("/") ? path : `${process.cwd()}/${path}`);

const ownDir = "use a directory of your own (--socket-dir)";

function problemOf(directory: string): Untrusted | undefined {
  const stat = lstatSync(directory);
  if (!isTrusted(stat.uid)) return foreign(directory, stat);
  const isOpen = (stat.mode & writableByOthers) !== 0 && (stat.mode & sticky) === 0;
  if (!isOpen || ((stat.mode & writableByAll) === 0 && isPrivateGroup(stat))) return undefined;
  const mode = (stat.mode & 0o7777).toString(8);
  return {
    problem: `other users may write to ${directory} (its mode is ${mode}) and replace the socket`,
    remedy: `chmod go-w ${directory}, or ${ownDir}; ${override(directory)}`,
  };
}

const foreign = (path: string, { uid }: Stats): Untrusted => ({
  problem: `${path} belongs to another user (uid ${uid}); that user can replace the socket`,
  remedy: `${ownDir}; ${override(path)}`,
});

const override = (path: string) => `${trustedDirsVariable}=${path} accepts it as it is`;

/** The owner of / controls everything: in a user namespace it is not 0, but the uid to which the real root maps. */
const isTrusted = (uid: number): boolean =>
  uid === process.getuid?.() || uid === 0 || uid === lstatSync("/").uid;

const isPrivateGroup = (stat: Stats): boolean =>
  isGroupOfOwnerAlone(stat, { passwd: readOrEmpty("/etc/passwd"), group: readOrEmpty("/etc/group") });

/**
 * With a umask of 002, as on Ubuntu, each user has a group of the same name without any other user, neither as a member
 * nor by primary group. If the files do not list the user and the group, their numbers must be equal.
 */
export function isGroupOfOwnerAlone(
  { uid, gid }: Pick<Stats, "uid" | "gid">,
  files: { passwd: string; group: string },
): boolean {
  const users = recordsOf(files.passwd);
  const groups = recordsOf(files.group).filter(([, , id]) => id === String(gid));
  const ownNames = users.filter(([, , id]) => id === String(uid)).map(([name]) => name);
  const isOwn = (name: string | undefined) => ownNames.includes(name);
  const isKnown = ownNames.length > 0 && groups.length > 0;
  if (isKnown ? !groups.every(([name]) => isOwn(name)) : uid !== gid) return false;
  const members = groups.flatMap(([, , , names = ""]) => names.split(",").filter(Boolean));
  const primary = users.filter(([, , , id]) => id === String(gid)).map(([name]) => name);
  return [...members, ...primary].every(isOwn);
}

const recordsOf = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(":").map((field) => field.trim()));

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // a system without that file has no groups with members
  }
}

const partsOf = (path: string) => path.split("/").filter((part) => part !== "" && part !== ".");

function realDirs(list = ""): string[] {
  return list.split(":").flatMap((path) => {
    try {
      return path.startsWith("/") ? [realpathSync(path)] : [];
    } catch {
      return [];
    }
  });
}

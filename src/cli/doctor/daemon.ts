// Checks the daemon's socket, its directory and the token: presence, owner, permissions.
import { existsSync, lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { readTokenFile, tokenPath, tokenVariable } from "../../util/token-file.ts";
import { untrustedPart } from "../../util/trusted-socket.ts";
import { version } from "../../util/version.ts";
import { tryConnect } from "../connection.ts";
import { quoteWord } from "../shell-words.ts";
import { type Check, type Finding, note, ok, problem } from "./check.ts";

const group = "daemon";
const useOtherPath = "choose another path with --socket-path or $TRL_SOCKET_PATH";

export const daemonChecks = (socketPath: string): Check[] => [
  { id: "socket", group, run: () => checkSocket(socketPath) },
  { id: "socket-directory", group, run: () => checkDirectory(dirname(socketPath)) },
  { id: "token", group, run: () => checkToken(tokenPath(socketPath)) },
];

async function checkSocket(path: string): Promise<Finding> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) {
    const remedy = "trl serve starts one, trl service install starts it at each login";
    return note(`no daemon is listening on ${path}`, { remedy });
  }
  if (!stat.isSocket())
    return problem(`${path} is there and is no socket`, { remedy: `remove it, or ${useOtherPath}` });
  if (!isOurs(stat))
    return problem(`${path} belongs to another user (uid ${stat.uid})`, { remedy: useOtherPath });
  if (untrustedPart(dirname(path), process.env))
    return problem(`${path} is not used: other users control its directory`, { remedy: useOtherPath });
  using client = await tryConnect(path);
  if (!client) {
    const detail = "it is left over from a daemon that was killed";
    return note(`no daemon is listening on ${path}, but the socket exists`, {
      detail,
      remedy: "the next trl serve removes it",
    });
  }
  if ((stat.mode & 0o077) !== 0) {
    const detail = `its mode is ${modeText(stat)}: any user that connects can run commands as you`;
    return problem(`others may connect to ${path}`, { detail, remedy: `chmod 600 ${quoteWord(path)}` });
  }
  const { pid } = await client.call("system.stats", {});
  const daemon = await client.call("system.ping", {});
  const summary = `trl ${daemon.version} is listening on ${path}, pid ${pid}`;
  if (daemon.version === version) return ok(summary);
  const remedy = `trl upgrade has this program take over, and what runs goes on; or kill ${pid} and start it again`;
  return note(summary, { detail: `this program is trl ${version}`, remedy });
}

function checkDirectory(path: string): Finding {
  if (!existsSync(path))
    return note(`${path} does not exist`, { remedy: `mkdir -p ${quoteWord(path)}, or use --socket-dir` });
  if (!statSync(path).isDirectory()) return problem(`${path} is no directory`, { remedy: useOtherPath });
  const untrusted = untrustedPart(path, process.env);
  if (!untrusted) return ok(`${path} is safe for a socket`);
  const detail = "neither a daemon nor a client uses a socket there";
  return problem(untrusted.problem, { detail, remedy: untrusted.remedy });
}

function checkToken(path: string): Finding {
  if (process.env[tokenVariable]) return ok(`the token is that of $${tokenVariable}`);
  const renew = `remove it and start the daemon again, which makes a new one: rm ${quoteWord(path)}`;
  switch (readTokenFile(path).state) {
    case "good":
      return ok(`the token in ${path} is yours alone`);
    case "missing":
      return ok("there is no token yet; a daemon makes it when it starts");
    case "not-ours":
      return problem(`the token's file ${path} belongs to another user`, { remedy: useOtherPath });
    case "not-private":
      return problem(`others may have read or changed the token in ${path}`, { remedy: renew });
    case "empty":
      return problem(`${path} is empty`, { remedy: renew });
    default:
      return problem(`${path} is no token of trl, and no daemon starts beside it`, { remedy: useOtherPath });
  }
}

const isOurs = ({ uid }: Stats) => uid === process.getuid?.();
const modeText = ({ mode }: Stats) => (mode & 0o7777).toString(8).padStart(3, "0");

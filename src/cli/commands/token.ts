// trl token: prints the token of the HTTP listener, or the path of its file.
import { dirname } from "node:path";
import { type ArgsDef, defineCommand } from "citty";
import { errorCodes } from "../../protocol/errors.ts";
import { readTokenFile, type TokenFile, tokenPath, tokenVariable } from "../../util/token-file.ts";
import { untrustedPart } from "../../util/trusted-socket.ts";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { socketArgs, socketPathFrom } from "../connection.ts";
import { CliError } from "../errors.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";

const args = {
  ...socketArgs,
  path: { type: "boolean", description: "Print where its file is, whether it is there or not" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "token", description: "Print the token that HTTP, WebSocket and frontends ask for" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    const path = tokenPath(socketPathFrom(given));
    if (given.path) return given.json ? printJson({ path }) : print(`${path}\n`);
    const fromEnvironment = process.env[tokenVariable];
    const token = fromEnvironment || tokenIn(path);
    const source = fromEnvironment ? "environment" : "file";
    return given.json ? printJson({ token, source, path }) : print(`${token}\n`);
  },
});

/** Only reads the file; the daemon creates it. */
function tokenIn(path: string): string {
  const file = readTokenFile(path);
  const untrusted = file.state === "missing" ? undefined : untrustedPart(dirname(path), process.env);
  if (untrusted) throw new CliError(untrusted.problem, errorCodes.AUTH_FAILED.exit, untrusted.remedy);
  if (file.state === "good") return file.token;
  throw new CliError(refusals[file.state](path), errorCodes.AUTH_FAILED.exit, hints[file.state]);
}

type Bad = Exclude<TokenFile["state"], "good">;

const refusals: Record<Bad, (path: string) => string> = {
  missing: (path) => `there is no token: neither $${tokenVariable} nor ${path}`,
  "not-a-file": (path) => `${path} is no plain file, so that the daemon does not use it`,
  "not-ours": (path) => `${path} belongs to another user`,
  "not-private": (path) => `others may read or change ${path}, so that it is no secret`,
  unreadable: (path) => `${path} cannot be read`,
  empty: (path) => `${path} is empty`,
  malformed: (path) => `${path} holds no token of trl`,
};

const makesNew = "a daemon that starts makes a new one: trl serve";
const notReplaced = "a daemon does not replace it: move it away, or see --socket-path";
const hints: Record<Bad, string> = {
  missing: `a daemon makes the file when it starts: trl serve; one that has $${tokenVariable} uses that alone`,
  "not-a-file": notReplaced,
  "not-ours": "each user has a daemon and a token of their own: see --socket-path",
  "not-private": makesNew,
  unreadable: notReplaced,
  empty: makesNew,
  malformed: notReplaced,
};

// Connects standard input and output to the daemon's socket, byte for byte. Connectors that run a command (ssh, docker
// exec, kubectl exec) use it. A daemon that it starts is detached and outlives the connection.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import { type SocketFlags, serveFlagsFrom, socketArgs, socketPathFrom } from "../connection.ts";
import { bridge, type DaemonSocket, openSocket } from "../dial-stdio-bridge.ts";
import { engineSettings } from "../engine-environment.ts";
import { CliError, unavailableExitCode } from "../errors.ts";
import { ownProgram, untilReached } from "../own-program.ts";

const args = {
  ...socketArgs,
  greeting: {
    type: "string",
    valueHint: "TEXT",
    description: "A line to print as soon as the daemon is reached, before anything of it",
  },
  start: {
    type: "boolean",
    default: true,
    description: "Start a daemon where there is none (--no-start fails instead)",
  },
  "hang-up": {
    type: "boolean",
    description: "End at the end of the input, whatever the daemon still sends",
  },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "dial-stdio", description: "Connect standard input and output to the daemon's socket" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const separator = rawArgs.indexOf("--");
    const serveFlags = separator === -1 ? [] : rawArgs.slice(separator + 1);
    const socket = (await openSocket(socketPathFrom(given))) ?? (await reachNew(given, serveFlags));
    process.exitCode = await bridge(socket, { greeting: given.greeting, hangsUp: given["hang-up"] === true });
  },
});

/** The end of stderr, quoted if the daemon does not start. */
const stderrTailChars = 1000;

async function reachNew(
  given: SocketFlags & { start: boolean },
  serveFlags: string[],
): Promise<DaemonSocket> {
  const socketPath = socketPathFrom(given);
  if (!given.start) throw new CliError(`no daemon is listening on ${socketPath}`, unavailableExitCode);
  const command = [...ownProgram(), "serve", ...serveFlagsFrom(given), "--allow-root", ...serveFlags];
  // The daemon inherits no descriptor: sshd waits until all holders of the session's pipes have closed them. Its log
  // goes to a pipe that closes with this process.
  const child = Bun.spawn(command, {
    cwd: "/",
    env: { ...(await engineSettings()), ...process.env },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  const stderrTail = stderrTailOf(child);
  child.unref();
  try {
    return await untilReached(child, socketPath, () => openSocket(socketPath));
  } catch (error) {
    if (!(error instanceof CliError) || child.exitCode === null) throw error;
    throw new CliError(`${error.message}: ${await stderrTail}`, unavailableExitCode);
  }
}

async function stderrTailOf(child: Bun.Subprocess<"ignore", "ignore", "pipe">): Promise<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of child.stderr)
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-stderrTailChars);
  return tail.trim().replace(/^trl: /, "");
}

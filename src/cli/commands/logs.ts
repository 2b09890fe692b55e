import { constants } from "node:os";
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { type Follower, followCommand, followTerminal, type StreamName } from "../follow.ts";
import { countFrom } from "../numbers.ts";
import { isReaderGone, OutputWriter } from "../output-writer.ts";
import { findTarget, oneName, type Target } from "../targets.ts";
import { bytes as bytesText } from "../ui/format.ts";
import { jsonText, note } from "../ui/print.ts";
import { AlternateScreen } from "../ui/terminal/alternate-screen.ts";
import { leavingText, say } from "../ui/terminal/user-terminal.ts";

const args = {
  ...socketArgs,
  follow: { type: "boolean", alias: "f", description: "Go on with what comes, until the end" },
  stdout: { type: "boolean", description: "Only the command's standard output" },
  stderr: { type: "boolean", description: "Only the command's standard error" },
  from: { type: "string", valueHint: "N", description: "Begin with this byte of the output (0)" },
  json: { type: "boolean", description: "Print the frames as they come, one JSON object a line" },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "logs", description: "Print a command's or a terminal's output, from its start and live" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const word = oneName(given._, "trl logs -f build");
    const streams = streamsFrom(given);
    const from = countFrom("--from", given.from ?? "0");
    using client = await connect(socketPathFrom(given));
    const target = await findTarget(client, word);
    checkStreams(target, streams, from);
    using leaving = new Leaving();
    const passer = new OutputWriter(client, (error) => leaving.lose(error));
    using screen = new LogScreen(target);
    const follower = given.json ? frameFollower(passer) : textFollower(passer, screen);
    const encoding = given.json ? ("utf8" as const) : ("base64" as const);
    const spec = { streams, from, isLive: given.follow === true, encoding };
    const told =
      target.kind === "command"
        ? followCommand(client, target.command, spec, follower)
        : followTerminal(client, target.terminal, spec, follower);
    process.exitCode = await Promise.race([told.then(() => 0), leaving.left]);
    client.onClose.clear();
  },
});

interface StreamFlags {
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
}

function streamsFrom({ stdout = false, stderr = false }: StreamFlags): StreamName[] {
  if (stdout === stderr) return ["stdout", "stderr"];
  return stdout ? ["stdout"] : ["stderr"];
}

function checkStreams({ kind }: Target, streams: StreamName[], from: number): void {
  if (kind === "terminal" && !streams.includes("stdout"))
    throw new CliError("a terminal has one output only", usageExitCode, "leave --stderr out");
  if (kind === "command" && from > 0 && streams.length > 1)
    throw new CliError("--from counts the bytes of one stream", usageExitCode, "add --stdout or --stderr");
}

function textFollower(passer: OutputWriter, screen: LogScreen): Follower {
  return {
    output(stream, bytes) {
      screen.take(bytes);
      passer.pass(stream === "stdout" ? 1 : 2, bytes);
    },
    gap(stream, from, to) {
      // In its place among the output.
      const text = `trl: ${bytesText(to - from)} of ${stream} are gone (bytes ${from} to ${to})\n`;
      passer.pass(2, Buffer.from(text));
    },
    frame() {},
    taken: () => passer.done(),
  };
}

function frameFollower(passer: OutputWriter): Follower {
  return {
    output() {},
    gap: (stream, from, to) => note(`bytes ${from} to ${to} of ${stream} are gone`),
    frame: (frame) => passer.pass(1, Buffer.from(`${jsonText(frame)}\n`)),
    taken: () => passer.done(),
  };
}

/** ^C and the like, and readers that have gone: we leave, and what runs goes on. */
class Leaving implements Disposable {
  readonly #left = Promise.withResolvers<number>();
  readonly left = this.#left.promise;
  readonly #handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => ({
    signal,
    hear: () => this.leave(128 + constants.signals[signal]),
  }));

  constructor() {
    for (const { signal, hear } of this.#handlers) process.on(signal, hear);
  }

  leave(exitCode: number): void {
    this.#left.resolve(exitCode);
  }

  /** What is written arrives nowhere. */
  lose(error: Error): void {
    if (isReaderGone(error)) this.leave(0);
    else this.#left.reject(error);
  }

  [Symbol.dispose](): void {
    for (const { signal, hear } of this.#handlers) process.off(signal, hear);
  }
}

/** A terminal's output switches things on in the terminal that it is shown on; they are off when we go. */
class LogScreen implements Disposable {
  readonly #screen: AlternateScreen | undefined;

  constructor({ kind }: Target) {
    this.#screen = kind === "terminal" && process.stdout.isTTY ? new AlternateScreen() : undefined;
  }

  take(bytes: Buffer): void {
    this.#screen?.take(bytes);
  }

  [Symbol.dispose](): void {
    if (this.#screen) say(1, leavingText(this.#screen));
  }
}

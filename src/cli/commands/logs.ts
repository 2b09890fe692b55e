// trl logs: prints the output of a command or terminal.
import { constants } from "node:os";
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { type Follower, followCommand, followTerminal, type StreamName } from "../logs-follow.ts";
import { countFrom } from "../numbers.ts";
import { isReaderClosed, OutputWriter } from "../output-writer.ts";
import { findTarget, oneName, type Target } from "../targets.ts";
import { bytes as bytesText } from "../ui/format.ts";
import { jsonText, note } from "../ui/print.ts";
import { AlternateScreen } from "../ui/terminal/alternate-screen.ts";
import { restoreText, say } from "../ui/terminal/user-terminal.ts";

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
    using detach = new Detach();
    const writer = new OutputWriter(client, (error) => detach.outputFailed(error));
    using screen = new LogScreen(target);
    const follower = given.json ? frameFollower(writer) : textFollower(writer, screen);
    const encoding = given.json ? ("utf8" as const) : ("base64" as const);
    const spec = { streams, from, isLive: given.follow === true, encoding };
    const finished =
      target.kind === "command"
        ? followCommand(client, target.command, spec, follower)
        : followTerminal(client, target.terminal, spec, follower);
    process.exitCode = await Promise.race([finished.then(() => 0), detach.detached]);
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

function textFollower(writer: OutputWriter, screen: LogScreen): Follower {
  return {
    output(stream, bytes) {
      screen.take(bytes);
      writer.write(stream === "stdout" ? 1 : 2, bytes);
    },
    gap(stream, from, to) {
      // By the writer, so that the notice keeps its position in the output.
      const text = `trl: ${bytesText(to - from)} of ${stream} are gone (bytes ${from} to ${to})\n`;
      writer.write(2, Buffer.from(text));
    },
    frame() {},
    flush: () => writer.flush(),
  };
}

function frameFollower(writer: OutputWriter): Follower {
  return {
    output() {},
    gap: (stream, from, to) => note(`bytes ${from} to ${to} of ${stream} are gone`),
    frame: (frame) => writer.write(1, Buffer.from(`${jsonText(frame)}\n`)),
    flush: () => writer.flush(),
  };
}

/** Ends `trl logs` on a signal or when the reader closes the pipe. The command runs on. */
class Detach implements Disposable {
  readonly #detached = Promise.withResolvers<number>();
  readonly detached = this.#detached.promise;
  readonly #handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => ({
    signal,
    handle: () => this.detach(128 + constants.signals[signal]),
  }));

  constructor() {
    for (const { signal, handle } of this.#handlers) process.on(signal, handle);
  }

  detach(exitCode: number): void {
    this.#detached.resolve(exitCode);
  }

  outputFailed(error: Error): void {
    if (isReaderClosed(error)) this.detach(0);
    else this.#detached.reject(error);
  }

  [Symbol.dispose](): void {
    for (const { signal, handle } of this.#handlers) process.off(signal, handle);
  }
}

/** Output of a terminal may set modes of the user's terminal; disposing resets them. */
class LogScreen implements Disposable {
  readonly #screen: AlternateScreen | undefined;

  constructor({ kind }: Target) {
    this.#screen = kind === "terminal" && process.stdout.isTTY ? new AlternateScreen() : undefined;
  }

  take(bytes: Buffer): void {
    this.#screen?.take(bytes);
  }

  [Symbol.dispose](): void {
    if (this.#screen) say(1, restoreText(this.#screen));
  }
}

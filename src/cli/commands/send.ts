// trl send: sends text and keys to a terminal or to the input of a command.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, errorExitCode, usageExitCode } from "../errors.ts";
import { findTarget, type Target } from "../targets.ts";
import { aliasesOf } from "../ui/help.ts";
import { dependsOnMode, keySequence } from "../ui/keys.ts";
import { jsonArgs, printJson } from "../ui/print.ts";
import { withProgress } from "../ui/progress.ts";
import { writeInput } from "../write-input.ts";

const args = {
  ...socketArgs,
  enter: { type: "boolean", alias: "e", description: "Press Enter at the end" },
  key: {
    type: "string",
    alias: "k",
    valueHint: "KEY",
    description:
      "Press this key here, between the texts: Enter, Escape, Up, F5, C-c, M-x ...; may be repeated",
  },
  eof: { type: "boolean", description: "Then end the input: ctrl-d in a terminal" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "send", description: "Type into a terminal, or write to the input of a running command" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args, { takesNumbers: true });
    const { name, pieces } = wordsFrom(rawArgs, args);
    if (name === undefined)
      throw new CliError("no name given", usageExitCode, "for example: trl send work --enter 'make test'");
    if (given.enter) pieces.push({ key: "Enter" });
    if (pieces.length === 0 && !given.eof) {
      const hint = "give a text, --key KEY, --enter, --eof, or - for what is on standard input";
      throw new CliError("nothing to send", usageExitCode, hint);
    }
    for (const piece of pieces) if ("key" in piece) keySequence(piece.key, { isApplication: false }); // a typo sends nothing
    using client = await connect(socketPathFrom(given));
    const target = await findTarget(client, name);
    refuseEnded(target, name);
    const sending = send(client, target, { pieces, isEof: given.eof === true });
    const sent = await withProgress(`waiting for ${name} to take its input`, sending);
    if (given.json) printJson({ id: idOf(target), bytes: sent });
  },
});

type Piece = { text: string } | { key: string } | { stdin: true };

interface Words {
  name: string | undefined;
  pieces: Piece[];
}

/** The operands in the order given: text and keys may alternate. Adjacent words are joined by a space, as in echo. */
export function wordsFrom(rawArgs: string[], args: ArgsDef): Words {
  const pieces: Piece[] = [];
  let name: string | undefined;
  const take = (word: string) => {
    const last = pieces.at(-1);
    if (name === undefined) name = word;
    else if (last && "text" in last) last.text += ` ${word}`;
    else pieces.push({ text: word });
  };
  const words = [...rawArgs];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--") {
      for (const rest of words) take(rest);
      break;
    }
    const flag = /^--?([a-z][\w-]*)(?:=(.*))?$/s.exec(word);
    if (!flag) {
      if (word === "-" && name !== undefined) pieces.push({ stdin: true });
      else take(word);
      continue;
    }
    const [, given = "", inline] = flag;
    const takesValue = isString(given, args);
    const value = inline ?? (takesValue ? words.shift() : undefined);
    if (given !== "key" && given !== "k") continue;
    if (value === undefined)
      throw new CliError("--key needs the name of a key", usageExitCode, "for example: --key Enter");
    pieces.push({ key: value });
  }
  return { name, pieces };
}

const isString = (flag: string, args: ArgsDef): boolean =>
  Object.entries(args).some(
    ([name, arg]) => (name === flag || aliasesOf(arg).includes(flag)) && arg.type === "string",
  );

const idOf = (target: Target): string =>
  target.kind === "terminal" ? target.terminal.session_id : target.command.stream_id;

function refuseEnded(target: Target, name: string): void {
  const { state } = target.kind === "terminal" ? target.terminal : target.command;
  if (state === "running") return;
  const isCommand = target.kind === "command";
  const code = isCommand ? "STREAM_NOT_FOUND" : "SESSION_NOT_FOUND";
  throw new CliError(
    isCommand ? `nothing is running in ${name}` : `${name} has already ended`,
    errorExitCode(code),
    "trl ps lists what runs",
    code,
  );
}

interface Input {
  pieces: Piece[];
  isEof: boolean;
}

/** Returns the number of bytes. */
async function send(client: DaemonClient, target: Target, { pieces, isEof }: Input): Promise<number> {
  if (target.kind === "terminal") return await type(client, target.terminal.session_id, { pieces, isEof });
  const { stream_id } = target.command;
  const bytes = Buffer.concat(await Promise.all(pieces.map(pieceForCommand)));
  await writeInput(bytes, (data) => client.call("exec.write", { stream_id, data, encoding: "base64" }));
  if (isEof) await client.call("exec.write", { stream_id, eof: true });
  return bytes.length;
}

async function pieceForCommand(piece: Piece): Promise<Uint8Array> {
  if ("stdin" in piece) return await Bun.stdin.bytes();
  if ("text" in piece) return Buffer.from(piece.text);
  if (keySequence(piece.key, { isApplication: false }) === "\r") return Buffer.from("\n");
  const hint = "a command reads text; interrupt it with: trl cancel --signal SIGINT NAME";
  throw new CliError(`${piece.key} is a key, which only a terminal has`, usageExitCode, hint);
}

async function type(client: DaemonClient, id: string, { pieces, isEof }: Input): Promise<number> {
  const isAsked = pieces.some((piece) => "key" in piece && dependsOnMode(piece.key));
  const modes = { isApplication: isAsked && (await hasApplicationKeys(client, id)) };
  // latin1, one character per byte: standard input may be binary.
  const read = async (piece: Piece) => {
    if ("key" in piece) return byteText(Buffer.from(keySequence(piece.key, modes)));
    return typed(byteText("text" in piece ? Buffer.from(piece.text) : await Bun.stdin.bytes()));
  };
  const texts = [...(await Promise.all(pieces.map(read))), isEof ? "\x04" : ""];
  let sent = 0;
  for (const [at, keys] of byPauses(texts).entries()) {
    if (at > 0) await client.call("pty.wait", { session_id: id, ...afterSignal });
    const bytes = Buffer.from(keys, "latin1");
    await writeInput(bytes, (data) => client.call("pty.write", { session_id: id, data, encoding: "base64" }));
    sent += bytes.length;
  }
  return sent;
}

/** A signal key flushes the terminal's input queue, so later keys wait until the program has handled the signal. */
const afterSignal = { until: { idle_ms: 100 }, timeout_s: 2 } as const;

/** Splits after each key that raises a signal (^C, ^Z, ^\). */
function byPauses(texts: string[]): string[] {
  const all = texts.filter((text) => text !== "");
  const raises = (text: string) => ["\x03", "\x1a", "\x1c"].includes(text);
  const pieces: string[] = [];
  for (const [at, text] of all.entries()) {
    if (at === 0 || raises(all[at - 1]!)) pieces.push(text);
    else pieces[pieces.length - 1] += text;
  }
  return pieces;
}

const byteText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** Enter and pasted newlines send CR. */
const typed = (text: string): string => text.replaceAll(/\r?\n/g, "\r");

/** The ansi snapshot includes the modes that the program has set. */
async function hasApplicationKeys(client: DaemonClient, id: string): Promise<boolean> {
  const { data = "" } = await client.call("pty.snapshot", { session_id: id, format: "ansi" });
  return data.includes("\x1b[?1h");
}

// What a program asks its terminal (what are you, where is the cursor, which colours) is answered by the emulator of
// whoever shows it. Where several do, all of them answer; the program must hear it once.
import type { Terminal } from "../core/terminal/terminal.ts";
import type { Client } from "./outgoing-queue.ts";

type Subscriptions = Client["subscriptions"];

const esc = 0x1b;
/** Longer ones are somebody's text. */
const answerBytesMax = 4096;
/**
 * Reports of device attributes, status, cursor, modes and sizes; strings (DCS, OSC) of any kind. No key sends any of
 * these but F3 with Shift and the like, which looks like a cursor in the first row.
 */
const answers =
  /^(?:\x1b\[(?:[?>=]?[\d;]*(?:[cnt]|\$y)|\?[\d;]*[uR]|(?!1;(?:[2-9]|1[0-6])R)\d+;\d+R)|\x1b[P\]][^\x1b\x07]*(?:\x07|\x1b\\))+$/;

/** Whether an emulator says it, and nobody has typed it. */
export function isAnswer(bytes: Uint8Array): boolean {
  if (bytes[0] !== esc || bytes.length < 3 || bytes.length > answerBytesMax) return false;
  return answers.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));
}

const inFront = new WeakMap<Terminal, Subscriptions>();

/** Of those who show a terminal, the last one that typed answers; before anybody has, the first that does. */
export function mayAnswer(terminal: Terminal, subscriptions: Subscriptions): boolean {
  const front = inFront.get(terminal);
  if (front && shows(front, terminal) && shows(subscriptions, terminal)) return front === subscriptions;
  noteTyping(terminal, subscriptions);
  return true;
}

export function noteTyping(terminal: Terminal, subscriptions: Subscriptions): void {
  // To set what is so already takes more than to look.
  if (inFront.get(terminal) !== subscriptions && shows(subscriptions, terminal))
    inFront.set(terminal, subscriptions);
}

const shows = (subscriptions: Subscriptions, { id }: Terminal): boolean =>
  subscriptions.get(id)?.isDisplay === true;

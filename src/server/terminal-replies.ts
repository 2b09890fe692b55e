// Replies of terminal emulators to a program's queries (device attributes, cursor position, colours). Every client that
// displays the terminal sends them; the program must get them once.
import type { Terminal } from "../core/terminal/terminal.ts";
import type { ConnectionState } from "./request-context.ts";

type Subscriptions = ConnectionState["subscriptions"];

const esc = 0x1b;
/** Longer input is typed or pasted text. */
const replyBytesMax = 4096;
/**
 * Reports of device attributes, status, cursor, modes and sizes; strings (DCS, OSC) of any kind. The only keys that
 * send such a sequence are F3 with modifiers, which look like a cursor report in the first row.
 */
const replies =
  /^(?:\x1b\[(?:[?>=]?[\d;]*(?:[cnt]|\$y)|\?[\d;]*[uR]|(?!1;(?:[2-9]|1[0-6])R)\d+;\d+R)|\x1b[P\]][^\x1b\x07]*(?:\x07|\x1b\\))+$/;

/** Whether the bytes are an emulator's replies to queries, and not typed. */
export function isQueryReply(bytes: Uint8Array): boolean {
  if (bytes[0] !== esc || bytes.length < 3 || bytes.length > replyBytesMax) return false;
  return replies.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"));
}

/** Decides which connection's replies reach a terminal: that of the display that typed last, or the first to reply. */
export class QueryReplies {
  readonly #chosen = new WeakMap<Terminal, Subscriptions>();

  mayReply(terminal: Terminal, subscriptions: Subscriptions): boolean {
    const chosen = this.#chosen.get(terminal);
    if (chosen && displays(chosen, terminal) && displays(subscriptions, terminal))
      return chosen === subscriptions;
    this.noteTyping(terminal, subscriptions);
    return true;
  }

  noteTyping(terminal: Terminal, subscriptions: Subscriptions): void {
    // WeakMap.set costs more than WeakMap.get.
    if (this.#chosen.get(terminal) !== subscriptions && displays(subscriptions, terminal))
      this.#chosen.set(terminal, subscriptions);
  }
}

const displays = (subscriptions: Subscriptions, { id }: Terminal): boolean =>
  subscriptions.get(id)?.isDisplay === true;

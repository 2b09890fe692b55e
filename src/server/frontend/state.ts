// The frontend dialect's state of one connection: authentication, spelling, and the order of replies.
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { TerminalSubscription } from "../terminal-subscription.ts";
import type { Spelling } from "./spelling.ts";

export class FrontendState {
  isAuthenticated = false;
  /** The client has sent requests of the method dialect, too. */
  speaksMethods = false;
  /** Subscriptions in this dialect, ended ones included. */
  readonly subscribed = new WeakMap<Terminal, TerminalSubscription>();
  #lastReply: Promise<unknown> = Promise.resolve();
  #tag: Spelling["tag"] | undefined;
  #field: Spelling["field"] | undefined;

  /** The first message shows the spelling of tags, the first one with a session id that of fields. */
  learn(type: string, fields: Record<string, unknown>): void {
    this.#tag ??= /^[A-Z]/.test(type) ? "pascal" : "snake";
    if ("sessionId" in fields) this.#field ??= "camel";
    else if ("session_id" in fields) this.#field ??= "snake";
  }

  /** The client has sent a message in this dialect. */
  get isSpoken(): boolean {
    return this.#tag !== undefined;
  }

  get spelling(): Spelling {
    return { tag: this.#tag ?? "pascal", field: this.#field ?? "both" };
  }

  /** Replies have no ids, so they are sent in the order of the messages. Later replies wait only if `blocks`. */
  inOrder<T>(reply: Promise<T>, blocks: boolean): Promise<T> {
    const own = Promise.allSettled([this.#lastReply, reply]).then(() => reply);
    if (blocks) this.#lastReply = own;
    return own;
  }
}

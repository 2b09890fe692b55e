// How one connection speaks the frontend dialect: whether it may, and in which spelling.
import type { Terminal } from "../../core/terminal/terminal.ts";
import { camelCase, type FrontendReply, snakeCase } from "../../protocol/frontend.ts";
import type { TerminalDialect } from "../terminal-frames.ts";
import type { TerminalSubscription } from "../terminal-subscription.ts";

export interface Spelling {
  tag: "pascal" | "snake";
  /** Both for as long as the client has shown neither. */
  field: "snake" | "camel" | "both";
}

export class FrontendState {
  isAuthenticated = false;
  /** The connection is used for both dialects. */
  speaksMethods = false;
  /** The terminals that are watched in this dialect. */
  readonly watched = new WeakMap<Terminal, TerminalSubscription>();
  #lastAnswer: Promise<unknown> = Promise.resolve();
  #tag: Spelling["tag"] | undefined;
  #field: Spelling["field"] | undefined;

  /** The first message shows how the client writes its tags, the first one with such a field its fields. */
  learn(type: string, fields: Record<string, unknown>): void {
    this.#tag ??= /^[A-Z]/.test(type) ? "pascal" : "snake";
    if ("sessionId" in fields) this.#field ??= "camel";
    else if ("session_id" in fields) this.#field ??= "snake";
  }

  /** Trust alone does not say which dialect a client will choose. */
  get isSpoken(): boolean {
    return this.#tag !== undefined;
  }

  get spelling(): Spelling {
    return { tag: this.#tag ?? "pascal", field: this.#field ?? "both" };
  }

  /** Answers have no ids: they come in the order of the messages, behind all those that hold up the later ones. */
  inTurn<T>(answer: Promise<T>, holdsUp: boolean): Promise<T> {
    const own = Promise.allSettled([this.#lastAnswer, answer]).then(() => answer);
    if (holdsUp) this.#lastAnswer = own;
    return own;
  }
}

export function spell(
  reply: FrontendReply,
  fields: Record<string, unknown>,
  { tag, field }: Spelling,
): string {
  const type = tag === "pascal" ? reply : snakeCase(reply);
  return JSON.stringify({ type, ...(respelt(fields, field) as typeof fields) });
}

function respelt(value: unknown, field: Spelling["field"]): unknown {
  if (field === "snake" || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => respelt(item, field));
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const names = field === "camel" ? [camelCase(name)] : [name, camelCase(name)];
    return names.map((spelling) => [spelling, respelt(inner, field)]);
  });
  return Object.fromEntries(entries);
}

const dialects = new Map<string, TerminalDialect>();

/** One object for each spelling, so that those who spell alike share their frames. */
export function dialectOf(spelling: Spelling): TerminalDialect {
  const key = `${spelling.tag} ${spelling.field}`;
  const known = dialects.get(key);
  if (known) return known;
  const dialect: TerminalDialect = {
    outputStart: ({ id }) => spell("SessionOutput", { session_id: id, data: "" }, spelling).slice(0, -2),
    exit: ({ id, exit }) =>
      spell("SessionClosed", { session_id: id, exit_code: exit!.exitCode, signal: exit!.signal }, spelling),
  };
  dialects.set(key, dialect);
  return dialect;
}

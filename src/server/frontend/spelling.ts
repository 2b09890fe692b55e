// The spellings of the frontend dialect: how tags and fields of replies and terminal frames are written.
import { camelCase, type FrontendReply, snakeCase } from "../../protocol/frontend.ts";
import { fieldsOf } from "../../remote/subscriptions/frame-text.ts";
import type { Presentation } from "../../remote/subscriptions/terminal.ts";
import type { TerminalDialect } from "../terminal-frames.ts";

export interface Spelling {
  tag: "pascal" | "snake";
  /** Both until the client has sent a field that shows its spelling. */
  field: "snake" | "camel" | "both";
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

const dialectIn = (spelling: Spelling): TerminalDialect => ({
  outputStart: ({ id }) => spell("SessionOutput", { session_id: id, data: "" }, spelling).slice(0, -2),
  exit: ({ id, exit }) =>
    spell("SessionClosed", { session_id: id, exit_code: exit!.exitCode, signal: exit!.signal }, spelling),
});

const dialectsOf = (tag: Spelling["tag"]) => ({
  snake: dialectIn({ tag, field: "snake" }),
  camel: dialectIn({ tag, field: "camel" }),
  both: dialectIn({ tag, field: "both" }),
});

/** One object for each spelling: the frame cache shares frames by dialect object. */
const dialects = { pascal: dialectsOf("pascal"), snake: dialectsOf("snake") };

export const dialectOf = ({ tag, field }: Spelling): TerminalDialect => dialects[tag][field];

/** Frames of a terminal in another runtime. */
export const presentationOf = (spelling: Spelling): Presentation => ({
  isFrontend: true,
  output: (data, { id }) => spell("SessionOutput", { session_id: id, data }, spelling),
  other: (frame) => {
    if (frame.type !== "exit") return undefined;
    const { exit_code, signal, error } = fieldsOf(frame) as {
      exit_code: number;
      signal: string | null;
      error?: { message: string };
    };
    const why = error ? { error: error.message } : {};
    return spell("SessionClosed", { session_id: frame.id, exit_code, signal, ...why }, spelling);
  },
});

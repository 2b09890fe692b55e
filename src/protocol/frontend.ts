// The frontend dialect: nine messages in, seven out, on the same socket. The format was never published, so tags and
// fields are accepted in any spelling, and replies use the spelling of the client.
import * as v from "valibot";
import { encodings } from "./exec.ts";
import { EnvOverrides, OsPath } from "./fields.ts";
import { Side, TerminalId } from "./pty.ts";

const Terminal = { session_id: v.string() };

export const frontendMessages = {
  Auth: v.object({ token: v.string() }),
  CreateSession: v.object({
    id: v.optional(TerminalId),
    shell: v.optional(OsPath),
    cwd: v.optional(OsPath),
    env: v.optional(EnvOverrides),
    cols: v.optional(Side),
    rows: v.optional(Side),
    runtime: v.optional(v.string()),
  }),
  WriteInput: v.object({ ...Terminal, data: v.string(), encoding: v.optional(v.picklist(encodings)) }),
  Resize: v.object({ ...Terminal, cols: Side, rows: Side }),
  Subscribe: v.object(Terminal),
  Unsubscribe: v.object(Terminal),
  CloseSession: v.object(Terminal),
  ListSessions: v.object({}),
  Ping: v.object({}),
} as const;

export type FrontendTag = keyof typeof frontendMessages;
export type FrontendMessage<T extends FrontendTag> = v.InferOutput<(typeof frontendMessages)[T]>;

export const frontendReplies = [
  "AuthResult",
  "SessionCreated",
  "SessionOutput",
  "SessionClosed",
  "SessionList",
  "Pong",
  "Error",
] as const;
export type FrontendReply = (typeof frontendReplies)[number];

/** `CreateSession` -> `create_session`. */
export const snakeCase = (tag: string): string =>
  tag.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** `session_id` -> `sessionId`. */
export const camelCase = (field: string): string =>
  field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The tag in any spelling: `CreateSession`, `createSession`, `create_session`. */
export function frontendTag(type: string): FrontendTag | undefined {
  return byPlainName.get(type.replaceAll("_", "").toLowerCase());
}

const byPlainName = new Map(
  (Object.keys(frontendMessages) as FrontendTag[]).map((tag) => [tag.toLowerCase(), tag]),
);

// The frontend dialect over the same terminals: each message becomes a call of the method that does the same.
import { homedir } from "node:os";
import { isDirectory } from "../../core/exec/directories.ts";
import { terminalSummary } from "../../core/pty/summary.ts";
import type { Terminal } from "../../core/pty/terminal.ts";
import type { Terminals } from "../../core/pty/terminals.ts";
import { TrlError } from "../../protocol/errors.ts";
import {
  type FrontendMessage,
  type FrontendReply,
  type FrontendTag,
  frontendMessages,
  frontendTag,
} from "../../protocol/frontend.ts";
import { validateObject } from "../../protocol/validate.ts";
import type { Handlers } from "../handlers/handlers.ts";
import { subscribe } from "../handlers/pty-subscriptions.ts";
import type { Client } from "../lane.ts";
import { controlFrame } from "../terminal-frames.ts";
import { dialectOf, spell } from "./state.ts";

type Reply = [type: FrontendReply, fields: Record<string, unknown>] | undefined;
type Actions = {
  [T in FrontendTag]: (message: FrontendMessage<T>, client: Client) => Reply | Promise<Reply>;
};

/** A frontend that comes back wants its history, too. */
const replayScrollback = 1000;

export interface FrontendContext {
  handlers: Handlers;
  terminals: Terminals;
  isToken(given: string): boolean;
}

export class FrontendAdapter {
  readonly #actions: Actions;

  constructor(readonly context: FrontendContext) {
    this.#actions = actionsOf(context);
  }

  /** Undefined where the message has no answer. Who closes a terminal waits for its end, and nobody else does. */
  async answer(fields: Record<string, unknown>, client: Client): Promise<Uint8Array | undefined> {
    const type = String(fields["type"]);
    client.frontend.learn(type, fields);
    const holdsUp = frontendTag(type) !== "CloseSession";
    const reply = await client.frontend.inTurn(this.#reply(type, fields, client), holdsUp);
    return reply && frameOf(reply, client);
  }

  error(message: string, client: Client): Uint8Array {
    return frameOf(["Error", { message }], client);
  }

  async #reply(type: string, fields: Record<string, unknown>, client: Client): Promise<Reply> {
    const tag = frontendTag(type);
    if (!client.frontend.isAuthenticated && tag !== "Auth") {
      client.hangUp();
      return ["Error", { message: "authentication required: the first message is Auth" }];
    }
    if (!tag) return ["Error", { message: `unknown message type "${type.slice(0, 64)}"` }];
    try {
      const { sessionId, ...rest } = fields;
      const message = validateObject(
        frontendMessages[tag],
        sessionId === undefined ? fields : { session_id: sessionId, ...rest },
      );
      const action = this.#actions[tag] as (message: unknown, client: Client) => Reply | Promise<Reply>;
      return await action(message, client);
    } catch (error) {
      if (!(error instanceof TrlError)) throw error;
      if (tag === "Auth") client.hangUp();
      return ["Error", { message: error.message }];
    }
  }
}

const frameOf = (reply: NonNullable<Reply>, { frontend }: Client): Uint8Array =>
  controlFrame(toLatin1(spell(...reply, frontend.spelling)));

/** JSON.stringify leaves text as it is, and frames are made of single bytes. */
const toLatin1 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

function actionsOf({ handlers, terminals, isToken }: FrontendContext): Actions {
  return {
    Auth: ({ token }, client) => {
      const isRight = isToken(token);
      client.frontend.isAuthenticated ||= isRight;
      if (!isRight) client.hangUp();
      return ["AuthResult", { ok: isRight }];
    },

    CreateSession: async ({ id, cwd, ...rest }, client) => {
      const place = cwd ?? home();
      const given = {
        ...rest,
        ...(place === undefined ? {} : { working_dir: place }),
        ...(id === undefined ? {} : { session_id: id }),
      };
      try {
        const { session_id, pid } = await handlers["pty.create"](given, client);
        return ["SessionCreated", { session_id, pid }];
      } catch (error) {
        throw inFrontendWords(error);
      }
    },

    WriteInput: async (message, client) => {
      await handlers["pty.write"](message, client);
      return undefined;
    },

    Resize: async (message, client) => {
      await handlers["pty.resize"](message, client);
      return undefined;
    },

    Subscribe: ({ session_id }, client) =>
      terminals.use(session_id, (terminal) => {
        const dialect = dialectOf(client.frontend.spelling);
        subscribe(terminal, client, { dialect, from: undefined, scrollback: replayScrollback });
        client.frontend.watched.set(terminal, client.subscriptions.get(session_id)!);
        return undefined;
      }),

    Unsubscribe: async (message, client) => {
      client.frontend.watched.delete(terminals.get(message.session_id));
      await handlers["pty.unsubscribe"](message, client);
      return undefined;
    },

    CloseSession: async ({ session_id }, client) => {
      const terminal = terminals.get(session_id);
      const { watched } = client.frontend;
      // A subscription that has ended, or gave way to one of the other dialect, tells nothing from now on.
      if (watched.get(terminal) !== client.subscriptions.get(session_id)) watched.delete(terminal);
      const { exit_code, signal } = await handlers["pty.close"]({ session_id }, client);
      // Who watches it is told by that.
      return watched.has(terminal) ? undefined : ["SessionClosed", { session_id, exit_code, signal }];
    },

    ListSessions: () => ["SessionList", { sessions: terminals.live.map(listed) }],

    Ping: () => ["Pong", {}],
  };
}

/** Where a terminal begins, if there is such a place. */
const home = (): string | undefined => (isDirectory(Buffer.from(homedir())) ? homedir() : undefined);

/** What the method calls otherwise. */
const frontendWords: Record<string, string> = { working_dir: "cwd", session_id: "id" };

function inFrontendWords(error: unknown): unknown {
  if (!(error instanceof TrlError)) return error;
  const message = error.message.replace(/^\w+(?=:)/, (name) => frontendWords[name] ?? name);
  return new TrlError(error.code, message);
}

function listed(terminal: Terminal) {
  const { session_id, pid, shell, working_dir, cols, rows, created_at, name } = terminalSummary(terminal);
  return {
    id: session_id,
    session_id,
    pid,
    shell,
    cwd: working_dir,
    cols,
    rows,
    created_at,
    name,
    alive: true,
  };
}

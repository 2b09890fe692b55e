// The frontend dialect over the same terminals: each message becomes a call of the method that does the same.
import { homedir } from "node:os";
import { isDirectory } from "../../core/process/directories.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import type { Terminals } from "../../core/terminal/terminals.ts";
import { TrlError } from "../../protocol/errors.ts";
import {
  type FrontendMessage,
  type FrontendReply,
  type FrontendTag,
  frontendMessages,
  frontendTag,
} from "../../protocol/frontend.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { TerminalSummary } from "../../protocol/pty.ts";
import { hostRuntime } from "../../protocol/runtime.ts";
import { validateObject } from "../../protocol/validate.ts";
import type { Runtime } from "../../remote/runtime.ts";
import { RemoteTerminal } from "../../remote/subscriptions/terminal.ts";
import { subscribe } from "../handlers/pty-subscriptions.ts";
import type { Client } from "../outgoing-queue.ts";
import type { Router } from "../router.ts";
import { controlFrame, type TerminalDialect } from "../terminal-frames.ts";
import { presentationOf } from "./presentation.ts";
import { dialectOf, spell } from "./state.ts";

type Reply = [type: FrontendReply, fields: Record<string, unknown>] | undefined;
type Actions = {
  [T in FrontendTag]: (message: FrontendMessage<T>, client: Client) => Reply | Promise<Reply>;
};

/** A frontend that comes back wants its history, too. */
const replayScrollback = 1000;

/** SessionClosed says that all is dead. */
const subscribing = { from: undefined, scrollback: replayScrollback, exitsAfterTree: true };

export interface FrontendContext {
  router: Router;
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

const actionsOf = (context: FrontendContext): Actions => ({
  ...terminalActions(context),

  Auth: ({ token }, client) => {
    const isRight = context.isToken(token);
    client.frontend.isAuthenticated ||= isRight;
    if (!isRight) client.hangUp();
    return ["AuthResult", { ok: isRight }];
  },

  Ping: () => ["Pong", {}],
});

function terminalActions({ router, terminals }: FrontendContext): Omit<Actions, "Auth" | "Ping"> {
  const call = <M extends MethodName>(method: M, params: Params<M>, client: Client) =>
    router.call(method, params, client) as Result<M> | Promise<Result<M>>;
  return {
    CreateSession: async ({ id, cwd, ...rest }, client) => {
      const isElsewhere = (rest.runtime ?? hostRuntime) !== hostRuntime; // our home is not there
      const place = cwd ?? (isElsewhere ? undefined : home());
      const given = {
        ...rest,
        ...(place === undefined ? {} : { working_dir: place }),
        ...(id === undefined ? {} : { session_id: id }),
      };
      try {
        const { session_id, pid } = await call("pty.create", given, client);
        return ["SessionCreated", { session_id, pid }];
      } catch (error) {
        throw inFrontendWords(error);
      }
    },

    WriteInput: async (message, client) => {
      await call("pty.write", message, client);
      return undefined;
    },

    Resize: async (message, client) => {
      await call("pty.resize", message, client);
      return undefined;
    },

    Subscribe: async ({ session_id }, client) => {
      const dialect = dialectOf(client.frontend.spelling);
      const found = router.runtimeOf(session_id);
      const runtime = found instanceof Promise ? await found : found; // who is here is not kept waiting
      if (runtime) {
        const params = { session_id, scrollback: replayScrollback, exit_after_tree: true };
        await router.subscribe(runtime, params, client, presentationOf(client.frontend.spelling));
        return undefined;
      }
      return await terminals.use(session_id, async (terminal) => {
        await watch(terminal, client, dialect);
        return undefined;
      });
    },

    Unsubscribe: async (message, client) => {
      if (terminals.has(message.session_id))
        client.frontend.watched.delete(terminals.get(message.session_id));
      await call("pty.unsubscribe", message, client);
      return undefined;
    },

    CloseSession: async ({ session_id }, client) => {
      const found = router.runtimeOf(session_id);
      const runtime = found instanceof Promise ? await found : found;
      const isWatched = runtime
        ? watchesThere(runtime, session_id, client)
        : watchesHere(terminals.get(session_id), client);
      const { exit_code, signal } = await call("pty.close", { session_id }, client);
      // Who watches it is told by that.
      return isWatched() ? undefined : ["SessionClosed", { session_id, exit_code, signal }];
    },

    ListSessions: async (_, client) => {
      const { sessions } = await call("pty.list", {}, client);
      return ["SessionList", { sessions: sessions.filter(({ state }) => state === "running").map(listed) }];
    },
  };
}

/** The screen comes before the answers to later messages. */
async function watch(terminal: Terminal, client: Client, dialect: TerminalDialect): Promise<void> {
  const subscription = subscribe(terminal, client, { dialect, ...subscribing });
  client.frontend.watched.set(terminal, subscription);
  await subscription.prepare();
}

function watchesHere(terminal: Terminal, { frontend: { watched }, subscriptions }: Client): () => boolean {
  // A subscription that has ended, or gave way to one of the other dialect, tells nothing from now on.
  if (watched.get(terminal) !== subscriptions.get(terminal.id)) watched.delete(terminal);
  return () => watched.has(terminal);
}

/** As it was when the end was asked for: the frame that tells it may have come before the reply. */
function watchesThere(runtime: Runtime, id: string, { far }: Client): () => boolean {
  const follower = far.connection(runtime).subscriptionOf(id);
  const isWatched = follower instanceof RemoteTerminal && follower.presentation.isFrontend;
  return () => isWatched;
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

function listed(terminal: TerminalSummary) {
  const { session_id, pid, shell, working_dir, cols, rows, created_at, name, runtime } = terminal;
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
    runtime,
    alive: true,
  };
}

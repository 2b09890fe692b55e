// The frontend dialect: each message becomes a call of the method that does the same.
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
import type { Validator } from "../../protocol/validate.ts";
import type { Runtime } from "../../remote/runtime.ts";
import { RemoteTerminal } from "../../remote/subscriptions/terminal.ts";
import { subscribe } from "../handlers/pty-subscriptions.ts";
import type { ConnectionState, RequestContext } from "../request-context.ts";
import type { Router } from "../router.ts";
import { controlFrame, type TerminalFrames } from "../terminal-frames.ts";
import { dialectOf, presentationOf, spell } from "./spelling.ts";
import type { FrontendState } from "./state.ts";

type Reply = [type: FrontendReply, fields: Record<string, unknown>] | undefined;
type Action<T extends FrontendTag> = (
  message: FrontendMessage<T>,
  context: RequestContext,
) => Reply | Promise<Reply>;
type Actions = { [T in FrontendTag]: Action<T> };

/** A frontend that reconnects wants its history, too. */
const replayScrollback = 1000;

export interface FrontendServices {
  router: Router;
  terminals: Terminals;
  terminalFrames: TerminalFrames;
  validator: Validator;
  isToken(given: string): boolean;
}

export class FrontendAdapter {
  readonly #actions: Actions;
  readonly #validator: Validator;

  constructor(services: FrontendServices) {
    this.#validator = services.validator;
    this.#actions = actionsOf(services);
  }

  /** Undefined if the message has no reply. Later replies do not wait for the end of a terminal. */
  async answer(fields: Record<string, unknown>, context: RequestContext): Promise<Uint8Array | undefined> {
    const type = String(fields["type"]);
    const { frontend } = context.connection;
    frontend.learn(type, fields);
    const blocks = frontendTag(type) !== "CloseSession";
    const reply = await frontend.inOrder(this.#reply(type, fields, context), blocks);
    return reply && frameOf(reply, frontend);
  }

  error(message: string, frontend: FrontendState): Uint8Array {
    return frameOf(["Error", { message }], frontend);
  }

  async #reply(type: string, fields: Record<string, unknown>, context: RequestContext): Promise<Reply> {
    const { connection } = context;
    const tag = frontendTag(type);
    if (!connection.frontend.isAuthenticated && tag !== "Auth") {
      connection.hangUp();
      return ["Error", { message: "authentication required: the first message is Auth" }];
    }
    if (!tag) return ["Error", { message: `unknown message type "${type.slice(0, 64)}"` }];
    try {
      const { sessionId, ...rest } = fields;
      const message = this.#validator.object(
        frontendMessages[tag],
        sessionId === undefined ? fields : { session_id: sessionId, ...rest },
      );
      const action = this.#actions[tag] as (message: unknown, context: RequestContext) => Reply;
      return await action(message, context);
    } catch (error) {
      if (!(error instanceof TrlError)) throw error;
      if (tag === "Auth") connection.hangUp();
      return ["Error", { message: error.message }];
    }
  }
}

const frameOf = (reply: NonNullable<Reply>, { spelling }: FrontendState): Uint8Array =>
  controlFrame(toLatin1(spell(...reply, spelling)));

/** JSON.stringify does not escape non-ASCII text, and `controlFrame` encodes as Latin-1: one character per byte. */
const toLatin1 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const actionsOf = (services: FrontendServices): Actions => ({
  ...terminalActions(services),

  Auth: ({ token }, { connection }) => {
    const isRight = services.isToken(token);
    connection.frontend.isAuthenticated ||= isRight;
    if (!isRight) connection.hangUp();
    return ["AuthResult", { ok: isRight }];
  },

  Ping: () => ["Pong", {}],
});

function terminalActions(services: FrontendServices): Omit<Actions, "Auth" | "Ping"> {
  const { router, terminals } = services;
  const call = <M extends MethodName>(method: M, params: Params<M>, context: RequestContext) =>
    router.call(method, params, context) as Result<M> | Promise<Result<M>>;
  return {
    CreateSession: async ({ id, cwd, ...rest }, context) => {
      const isLocal = (rest.runtime ?? hostRuntime) === hostRuntime;
      const workingDir = cwd ?? (isLocal ? home() : undefined);
      const params = {
        ...rest,
        ...(workingDir === undefined ? {} : { working_dir: workingDir }),
        ...(id === undefined ? {} : { session_id: id }),
      };
      try {
        const { session_id, pid } = await call("pty.create", params, context);
        return ["SessionCreated", { session_id, pid }];
      } catch (error) {
        throw withFrontendNames(error);
      }
    },

    WriteInput: async (message, context) => {
      await call("pty.write", message, context);
      return undefined;
    },

    Resize: async (message, context) => {
      await call("pty.resize", message, context);
      return undefined;
    },

    Subscribe: async ({ session_id }, context) => {
      const found = router.runtimeOf(session_id);
      const runtime = found instanceof Promise ? await found : found; // a local terminal takes no extra turn
      if (runtime) {
        const params = { session_id, scrollback: replayScrollback, exit_after_tree: true };
        const { spelling } = context.connection.frontend;
        await router.subscribe(runtime, params, context, presentationOf(spelling));
      } else await terminals.use(session_id, (terminal) => subscribeLocal(terminal, context, services));
      return undefined;
    },

    Unsubscribe: async (message, context) => {
      if (terminals.has(message.session_id))
        context.connection.frontend.subscribed.delete(terminals.get(message.session_id));
      await call("pty.unsubscribe", message, context);
      return undefined;
    },

    CloseSession: async ({ session_id }, context) => {
      const found = router.runtimeOf(session_id);
      const runtime = found instanceof Promise ? await found : found;
      const isSubscribed = runtime
        ? isSubscribedRemote(runtime, session_id, context.connection)
        : isSubscribedLocal(terminals.get(session_id), context.connection);
      const { exit_code, signal } = await call("pty.close", { session_id }, context);
      // A subscriber gets SessionClosed from its subscription.
      return isSubscribed() ? undefined : ["SessionClosed", { session_id, exit_code, signal }];
    },

    ListSessions: async (_, context) => {
      const { sessions } = await call("pty.list", {}, context);
      return ["SessionList", { sessions: sessions.filter(({ state }) => state === "running").map(listed) }];
    },
  };
}

/** The screen is sent before the replies to later messages. */
async function subscribeLocal(
  terminal: Terminal,
  context: RequestContext,
  { terminalFrames }: FrontendServices,
): Promise<void> {
  const { frontend } = context.connection;
  const subscription = subscribe(terminal, context, {
    frames: terminalFrames,
    dialect: dialectOf(frontend.spelling),
    from: undefined,
    scrollback: replayScrollback,
    exitsAfterTree: true, // SessionClosed means that every process is dead
  });
  frontend.subscribed.set(terminal, subscription);
  await subscription.prepare();
}

function isSubscribedLocal(
  terminal: Terminal,
  { frontend: { subscribed }, subscriptions }: ConnectionState,
): () => boolean {
  // A subscription that has ended, or was replaced by one of the other dialect, sends no SessionClosed.
  if (subscribed.get(terminal) !== subscriptions.get(terminal.id)) subscribed.delete(terminal);
  return () => subscribed.has(terminal);
}

/** Evaluated before the close: SessionClosed may be sent, and the subscription gone, before the reply. */
function isSubscribedRemote(runtime: Runtime, id: string, { links }: ConnectionState): () => boolean {
  const follower = links.connection(runtime).subscriptionOf(id);
  const isSubscribed = follower instanceof RemoteTerminal && follower.presentation.isFrontend;
  return () => isSubscribed;
}

/** The default working directory, if it exists. */
const home = (): string | undefined => (isDirectory(Buffer.from(homedir())) ? homedir() : undefined);

/** Fields that the method names differently. */
const frontendNames: Record<string, string> = { working_dir: "cwd", session_id: "id" };

function withFrontendNames(error: unknown): unknown {
  if (!(error instanceof TrlError)) return error;
  const message = error.message.replace(/^\w+(?=:)/, (name) => frontendNames[name] ?? name);
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

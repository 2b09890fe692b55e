// Forwards a client's requests to the daemon of another runtime, and its replies, unchanged. After a lost link, a
// command is found again by its id, so this chooses an id if the client has not.
import { ConnectionError, isTrlError } from "../client/errors.ts";
import { windowBytesMin } from "../protocol/fields.ts";
import type { MethodName, Result } from "../protocol/methods.ts";
import { validateParams } from "../protocol/validate.ts";
import type { ClientLinks } from "./client-links.ts";
import { asLoss, type RemoteConnection, type SendOptions } from "./connection.ts";
import type { Runtime } from "./runtime.ts";
import { RemoteStream, type RemoteStreamOptions } from "./subscriptions/stream.ts";
import type { RemoteSubscription } from "./subscriptions/subscription.ts";
import { type Presentation, RemoteTerminal, verbatim } from "./subscriptions/terminal.ts";

/** Context of one forwarded request. */
export interface ForwardContext {
  runtime: Runtime;
  links: ClientLinks;
  /** Runs the action once the reply to this request is queued. */
  afterReply(action: () => void): void;
  /** The id of a new command: the client's choice if it made one, else a new id. Adds it to the routing table. */
  newCommandId(chosen: unknown): string;
}

type Fields = Record<string, unknown>;

export function forward(method: MethodName, params: Fields, context: ForwardContext): Promise<unknown> {
  const { links, runtime } = context;
  switch (method) {
    case "exec.run":
      return run(params, context);
    case "exec.stream":
      return stream(params, context);
    case "exec.attach":
      return attach(params, context);
    case "pty.subscribe":
      return subscribe(params, context, verbatim);
    case "exec.ack":
      return acknowledge(params, context);
    case "exec.detach":
      return toSubscriptions(method, params, "stream_id", context);
    case "pty.ack":
    case "pty.unsubscribe":
      return toSubscriptions(method, params, "session_id", context);
    default:
      return links.connection(runtime).request(method, params);
  }
}

async function run(given: Fields, { links, runtime, newCommandId }: ForwardContext): Promise<unknown> {
  const params = { ...given, command_id: newCommandId(given["command_id"]) };
  const { command_id, check, encoding } = params as Fields & { command_id: string };
  const connection = links.connection(runtime);
  const wait = { stream_id: command_id, check, encoding };
  return await startOnce(connection, "exec.run", params, {
    recover: () => connection.request("exec.wait", wait),
  });
}

async function stream(
  given: Fields,
  { links, runtime, afterReply, newCommandId }: ForwardContext,
): Promise<unknown> {
  const params: Fields & { command_id: string } = { ...given, command_id: newCommandId(given["command_id"]) };
  const { command_id, session_id } = params;
  const connection = links.connection(runtime);
  const subscription = new RemoteStream(command_id, connection, links.writer, streamOptions(params));
  return await startAfterReply(subscription, afterReply, () =>
    startOnce(connection, "exec.stream", withWindow(params, subscription), {
      subscription,
      recover: async () => {
        const attached = { ...streamOptions(params), stream_id: command_id };
        await retryOnLoss(runtime, (timeout) =>
          attachOnce(connection, withWindow(attached, subscription), subscription, {
            timeoutMs: runtime.retryTimeoutMs,
            ...timeout,
          }),
        );
        return { stream_id: command_id, session_id };
      },
    }),
  );
}

async function attach(params: Fields, { links, runtime, afterReply }: ForwardContext): Promise<unknown> {
  const id = String(params["stream_id"]);
  const connection = links.connectionFor(runtime, id);
  const subscription = new RemoteStream(id, connection, links.writer, streamOptions(params));
  return await startAfterReply(subscription, afterReply, () =>
    retryOnLoss(runtime, (timeout) =>
      attachOnce(connection, withWindow(params, subscription), subscription, timeout),
    ),
  );
}

export async function subscribe(
  params: Fields,
  { links, runtime, afterReply }: ForwardContext,
  presentation: Presentation,
): Promise<unknown> {
  const id = String(params["session_id"]);
  const connection = links.connection(runtime);
  const subscription = new RemoteTerminal(id, connection, links.writer, {
    presentation,
    windowBytes: numberOf(params["window_bytes"]),
    isPassive: params["passive"] === true,
    exitsAfterTree: params["exit_after_tree"] === true,
    beginsWithRedraw: params["from"] === undefined && params["replay"] !== "none",
  });
  const received = (data: unknown) => subscription.setStart(data as Result<"pty.subscribe">);
  return await startAfterReply(subscription, afterReply, () =>
    retryOnLoss(runtime, (timeout) =>
      connection.send("pty.subscribe", withWindow(params, subscription), {
        ...timeout,
        received,
        subscription,
      }),
    ),
  );
}

/** This daemon enforces the client's window, so the acknowledgement ends here. */
async function acknowledge(given: Fields, { links, runtime }: ForwardContext): Promise<unknown> {
  const params = validateParams("exec.ack", given);
  const { stream_id } = params;
  for (const connection of links.subscribedTo(runtime, stream_id)) {
    const subscription = connection.subscriptionOf(stream_id);
    if (subscription instanceof RemoteStream) subscription.acknowledge(params);
  }
  return { stream_id };
}

/** Sends a request about a subscription over the connections that have it. */
async function toSubscriptions(
  method: MethodName,
  params: Fields,
  idField: "stream_id" | "session_id",
  { links, runtime }: ForwardContext,
): Promise<unknown> {
  const id = String(params[idField]);
  const connections = links.subscribedTo(runtime, id);
  if (connections.length === 0) return await links.connection(runtime).request(method, params);
  const isEnd = method === "exec.detach" || method === "pty.unsubscribe";
  const replies = connections.map(async (connection) => {
    const subscription = connection.subscriptionOf(id);
    try {
      return await connection.send(
        method,
        params,
        isEnd ? { received: () => subscription?.endedRemotely() } : {},
      );
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (isEnd) subscription?.endedRemotely(); // the remote daemon has detached it with the link
      return isEnd ? { [idField]: id, [endedFields[method]!]: true } : { [idField]: id };
    }
  });
  const [reply] = await Promise.all(replies);
  if (isEnd) await links.writer.drained(); // frames of this subscription must not mix with those of a later one
  return reply;
}

const endedFields: Partial<Record<MethodName, string>> = {
  "exec.detach": "detached",
  "pty.unsubscribe": "unsubscribed",
};

/** The subscription sends nothing before the reply; it ends if the request fails. */
async function startAfterReply(
  subscription: RemoteSubscription,
  afterReply: ForwardContext["afterReply"],
  request: () => Promise<unknown>,
): Promise<unknown> {
  try {
    const reply = await request();
    afterReply(() => subscription.start());
    return reply;
  } catch (error) {
    subscription.end();
    throw error;
  }
}

type LinkTimeout = Pick<SendOptions, "timeoutMs">;

const attachOnce = (
  connection: RemoteConnection,
  params: Fields,
  subscription: RemoteStream,
  timeout: LinkTimeout,
): Promise<unknown> =>
  connection.send("exec.attach", params, {
    ...timeout,
    subscription,
    received: (data) => subscription.setStart(data as Result<"exec.attach">),
  });

/** Repeats the request on a new link each time the link is lost: the new link has no subscription yet. */
async function retryOnLoss(
  { retryTimeoutMs }: Runtime,
  request: (timeout: LinkTimeout) => Promise<unknown>,
): Promise<unknown> {
  for (let timeout: LinkTimeout = {}; ; timeout = { timeoutMs: retryTimeoutMs }) {
    try {
      return await request(timeout);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }
}

/** Starts a command exactly once: after a lost link, looks for the command by its id before repeating the request. */
async function startOnce(
  connection: RemoteConnection,
  method: "exec.run" | "exec.stream",
  params: Fields,
  { subscription, recover }: { subscription?: RemoteSubscription; recover: () => Promise<unknown> },
): Promise<unknown> {
  for (let isRetry = false; ; isRetry = true) {
    try {
      const timeout = isRetry ? { timeoutMs: connection.runtime.retryTimeoutMs } : {};
      return await connection.send(method, params, { ...timeout, ...(subscription ? { subscription } : {}) });
    } catch (error) {
      const isLost = error instanceof ConnectionError;
      if (!isLost && !isRetry) throw error;
      // The first request may have arrived after the search, so its id is in use or its session is busy.
      const mayHaveArrived = isTrlError(error, "INVALID_PARAMS", "SESSION_BUSY");
      if (!isLost && !mayHaveArrived) throw asLoss(error, connection.runtime);
      const found = await recover().catch((failure: unknown) => {
        if (isTrlError(failure, "RUNTIME_UNAVAILABLE")) throw asLoss(failure, connection.runtime);
        if (!isTrlError(failure, "STREAM_NOT_FOUND")) throw failure;
        if (!isLost) throw error;
        return undefined; // the request never arrived, so it may be repeated
      });
      if (found !== undefined) return found;
    }
  }
}

/** Invalid params stay unchanged: the remote daemon reports what is wrong with them. */
function withWindow(params: Fields, { windowParams }: { windowParams: Fields }): Fields {
  const { window_bytes, resume_key } = params;
  const isInvalid = window_bytes != null && !(Number(window_bytes) >= windowBytesMin);
  return isInvalid || (resume_key != null && window_bytes == null) ? params : { ...params, ...windowParams };
}

/** Reads unchecked params, which the remote daemon validates. */
function streamOptions(params: Fields): RemoteStreamOptions {
  const numbers = ["stdout_offset", "stderr_offset", "stall_timeout_s", "window_bytes"] as const;
  const options: Fields = {};
  for (const name of numbers) if (numberOf(params[name]) !== undefined) options[name] = params[name];
  for (const name of ["encoding", "resume_key"])
    if (typeof params[name] === "string") options[name] = params[name];
  return options as RemoteStreamOptions;
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

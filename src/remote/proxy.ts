// A client's request to the daemon of another runtime, and its answer, as they are. What would be lost with a link is
// found again by the command's id, which is therefore chosen here where the client has chosen none.
import { isTrlError } from "../client/errors.ts";
import { windowBytesMin } from "../protocol/fields.ts";
import type { MethodName, Result } from "../protocol/methods.ts";
import { validateParams } from "../protocol/validate.ts";
import type { ClientLinks } from "./client-links.ts";
import { asLoss, type RemoteConnection } from "./connection.ts";
import { LinkLost } from "./link.ts";
import type { Runtime } from "./runtime.ts";
import { RemoteStream, type RemoteStreamOptions } from "./subscriptions/stream.ts";
import type { RemoteSubscription } from "./subscriptions/subscription.ts";
import { asItIs, type Presentation, RemoteTerminal } from "./subscriptions/terminal.ts";

export interface Asking {
  runtime: Runtime;
  far: ClientLinks;
  /** Runs once the reply to this request is on its way. */
  afterReply(action: () => void): void;
  /** The id of a command that is about to be started: the one that the client has chosen, or one of ours. */
  newCommandId(chosen: unknown): string;
}

type Fields = Record<string, unknown>;

export function forward(method: MethodName, params: Fields, asking: Asking): Promise<unknown> {
  const { far, runtime } = asking;
  switch (method) {
    case "exec.run":
      return run(params, asking);
    case "exec.stream":
      return stream(params, asking);
    case "exec.attach":
      return attach(params, asking);
    case "pty.subscribe":
      return subscribe(params, asking, asItIs);
    case "exec.ack":
      return acknowledge(params, asking);
    case "exec.detach":
      return toFollowers(method, params, "stream_id", asking);
    case "pty.ack":
    case "pty.unsubscribe":
      return toFollowers(method, params, "session_id", asking);
    default:
      return far.connection(runtime).request(method, params);
  }
}

async function run(given: Fields, { far, runtime, newCommandId }: Asking): Promise<unknown> {
  const params = { ...given, command_id: newCommandId(given["command_id"]) };
  const { command_id, check, encoding } = params as Fields & { command_id: string };
  const connection = far.connection(runtime);
  const result = { stream_id: command_id, check, encoding };
  return await startOnce(connection, "exec.run", params, {
    recover: () => connection.request("exec.wait", result),
  });
}

async function stream(given: Fields, { far, runtime, afterReply, newCommandId }: Asking): Promise<unknown> {
  const params: Fields & { command_id: string } = { ...given, command_id: newCommandId(given["command_id"]) };
  const { command_id, session_id } = params;
  const connection = far.connection(runtime);
  const follower = new RemoteStream(command_id, connection, far.outlet, wishesOf(params));
  return await following(follower, afterReply, () =>
    startOnce(connection, "exec.stream", windowed(params, follower), {
      follower,
      recover: async () => {
        const attached = { ...wishesOf(params), stream_id: command_id };
        const { patienceMs } = runtime;
        await again(runtime, (how) =>
          attachOnce(connection, windowed(attached, follower), follower, { patienceMs, ...how }),
        );
        return { stream_id: command_id, session_id };
      },
    }),
  );
}

async function attach(params: Fields, { far, runtime, afterReply }: Asking): Promise<unknown> {
  const id = String(params["stream_id"]);
  const connection = far.toFollow(runtime, id);
  const follower = new RemoteStream(id, connection, far.outlet, wishesOf(params));
  return await following(follower, afterReply, () =>
    again(runtime, (how) => attachOnce(connection, windowed(params, follower), follower, how)),
  );
}

export async function subscribe(
  params: Fields,
  { far, runtime, afterReply }: Asking,
  presentation: Presentation,
): Promise<unknown> {
  const id = String(params["session_id"]);
  const connection = far.connection(runtime);
  const follower = new RemoteTerminal(id, connection, far.outlet, {
    presentation,
    windowBytes: numberOf(params["window_bytes"]),
    isPassive: params["passive"] === true,
    exitsAfterTree: params["exit_after_tree"] === true,
    beginsWithRedraw: params["from"] === undefined && params["replay"] !== "none",
  });
  const received = (data: unknown) => follower.beginsAt(data as Result<"pty.subscribe">);
  return await following(follower, afterReply, () =>
    again(runtime, (how) =>
      connection.once("pty.subscribe", windowed(params, follower), { ...how, received, follower }),
    ),
  );
}

/** A client's window is kept here; what it may have is here already, or on its way. */
async function acknowledge(given: Fields, { far, runtime }: Asking): Promise<unknown> {
  const params = validateParams("exec.ack", given);
  const { stream_id } = params;
  for (const connection of far.following(runtime, stream_id)) {
    const follower = connection.followed(stream_id);
    if (follower instanceof RemoteStream) follower.acknowledge(params);
  }
  return { stream_id };
}

/** What is said of something that is followed goes to where it is followed. */
async function toFollowers(
  method: MethodName,
  params: Fields,
  idField: "stream_id" | "session_id",
  { far, runtime }: Asking,
): Promise<unknown> {
  const id = String(params[idField]);
  const connections = far.following(runtime, id);
  if (connections.length === 0) return await far.connection(runtime).request(method, params);
  const isEnd = method === "exec.detach" || method === "pty.unsubscribe";
  const replies = connections.map(async (connection) => {
    const follower = connection.followed(id);
    try {
      return await connection.once(method, params, isEnd ? { received: () => follower?.endedThere() } : {});
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error;
      if (isEnd) follower?.endedThere(); // the daemon there has let go of it with the link
      return isEnd ? { [idField]: id, [endedFields[method]!]: true } : { [idField]: id };
    }
  });
  const [reply] = await Promise.all(replies);
  if (isEnd) await far.outlet.drained(); // who comes again must not meet what is left of this
  return reply;
}

const endedFields: Partial<Record<MethodName, string>> = {
  "exec.detach": "detached",
  "pty.unsubscribe": "unsubscribed",
};

async function following(
  follower: RemoteSubscription,
  afterReply: Asking["afterReply"],
  ask: () => Promise<unknown>,
): Promise<unknown> {
  try {
    const reply = await ask();
    afterReply(() => follower.start());
    return reply;
  } catch (error) {
    follower.end();
    throw error;
  }
}

interface Patience {
  patienceMs?: number;
}

const attachOnce = (
  connection: RemoteConnection,
  params: Fields,
  follower: RemoteStream,
  how: Patience,
): Promise<unknown> =>
  connection.once("exec.attach", params, {
    ...how,
    follower,
    received: (data) => follower.beginsAt(data as Result<"exec.attach">),
  });

/** For what a new link does not know yet, so that it may be asked for as often as need be. */
async function again({ patienceMs }: Runtime, ask: (how: Patience) => Promise<unknown>): Promise<unknown> {
  for (let how: Patience = {}; ; how = { patienceMs }) {
    try {
      return await ask(how);
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error;
    }
  }
}

/** A command is started once, whatever becomes of the link: it is looked for by its id before it is sent again. */
async function startOnce(
  connection: RemoteConnection,
  method: "exec.run" | "exec.stream",
  params: Fields,
  { follower, recover }: { follower?: RemoteSubscription; recover: () => Promise<unknown> },
): Promise<unknown> {
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      const patience = isRepeated ? { patienceMs: connection.runtime.patienceMs } : {};
      return await connection.once(method, params, { ...patience, ...(follower ? { follower } : {}) });
    } catch (error) {
      const isLost = error instanceof LinkLost;
      if (!isLost && !isRepeated) throw error;
      // The first one may have arrived after all, while we asked.
      const mayHaveArrived = isTrlError(error, "INVALID_PARAMS", "SESSION_BUSY");
      if (!isLost && !mayHaveArrived) throw asLoss(error, connection.runtime);
      const found = await recover().catch((failure: unknown) => {
        if (isTrlError(failure, "RUNTIME_UNAVAILABLE")) throw asLoss(failure, connection.runtime);
        if (!isTrlError(failure, "STREAM_NOT_FOUND")) throw failure;
        if (!isLost) throw error;
        return undefined; // it has never been there, so that it may be sent
      });
      if (found !== undefined) return found;
    }
  }
}

/** Params that make no sense stay as they are: the daemon there says what is wrong with them. */
function windowed(params: Fields, { terms }: { terms: Fields }): Fields {
  const { window_bytes, resume_key } = params;
  const isOdd = window_bytes != null && !(Number(window_bytes) >= windowBytesMin);
  return isOdd || (resume_key != null && window_bytes == null) ? params : { ...params, ...terms };
}

/** Of params that nobody has checked yet; the daemon there will. */
function wishesOf(params: Fields): RemoteStreamOptions {
  const numbers = ["stdout_offset", "stderr_offset", "stall_timeout_s", "window_bytes"] as const;
  const wishes: Fields = {};
  for (const name of numbers) if (numberOf(params[name]) !== undefined) wishes[name] = params[name];
  for (const name of ["encoding", "resume_key"])
    if (typeof params[name] === "string") wishes[name] = params[name];
  return wishes as RemoteStreamOptions;
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

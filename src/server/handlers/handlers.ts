// One handler for each method of the table; the type sees to it that none is missing.
import type { Instant } from "../../core/lifetime/instant.ts";
import type { SessionRegistry } from "../../core/session/registry.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { LastUpgrade, UpgradeParams, UpgradeResult } from "../../protocol/system.ts";
import type { Recovered } from "../../recovery/recovered.ts";
import type { Runtimes } from "../../remote/runtimes.ts";
import type { ByteEncoder } from "../../util/byte-encoder.ts";
import type { ServerCounters } from "../counters.ts";
import type { Client } from "../outgoing-queue.ts";
import { execHandlers } from "./exec.ts";
import { attachmentHandlers } from "./exec-attachments.ts";
import { ptyHandlers } from "./pty.ts";
import { subscriptionHandlers } from "./pty-subscriptions.ts";
import { withRecovered } from "./recovered.ts";
import { runtimeHandlers } from "./runtime.ts";
import { sessionHandlers } from "./session.ts";
import { systemHandlers } from "./system.ts";

export type Handlers = {
  [M in MethodName]: (params: Params<M>, client: Client) => Result<M> | Promise<Result<M>>;
};

/** What handlers stand on. */
export interface HandlerContext {
  registry: SessionRegistry;
  counters: ServerCounters;
  version: string;
  maxLineBytes: number;
  stallTimeoutS: number;
  /** Writes output into frames. */
  encoder: ByteEncoder;
  runtimes: Runtimes;
  /** Of a daemon that was killed before this one. */
  recovered: Recovered;
  /** Of this daemon, for those who choose a runtime by what it has. */
  labels: readonly string[];
  startedAt: Instant;
  upgrading: Upgrading;
  /** The ways in that are open. */
  transports: string[];
}

/** How the daemon is handed to another program. */
export interface Upgrading {
  /** Resolves when the program has been tried; the handover begins behind the reply. */
  begin(params: UpgradeParams, afterReply: (action: () => void) => void): Promise<UpgradeResult>;
  readonly count: number;
  readonly last: LastUpgrade | null;
}

export function createHandlers(context: HandlerContext): Handlers {
  const handlers: Handlers = {
    ...systemHandlers(context),
    ...sessionHandlers(context),
    ...execHandlers(context),
    ...attachmentHandlers(context),
    ...ptyHandlers(context),
    ...subscriptionHandlers(context),
    ...runtimeHandlers(context),
  };
  return withRecovered(handlers, context);
}

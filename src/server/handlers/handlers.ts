// One handler for each method of the table; the type checks that none is missing.
import type { Instant } from "../../core/lifetime/instant.ts";
import type { SessionRegistry } from "../../core/session/registry.ts";
import type { MethodName, Params, Result } from "../../protocol/methods.ts";
import type { LastUpgrade, UpgradeParams, UpgradeResult } from "../../protocol/system.ts";
import type { Recovered } from "../../recovery/recovered.ts";
import type { Runtimes } from "../../remote/runtimes.ts";
import type { ServerCounters } from "../counters.ts";
import type { RequestContext } from "../request-context.ts";
import type { ResumePoints } from "../resume-points.ts";
import type { StreamFrames } from "../stream-frames.ts";
import type { TerminalFrames } from "../terminal-frames.ts";
import type { QueryReplies } from "../terminal-replies.ts";
import { execHandlers } from "./exec.ts";
import { attachmentHandlers } from "./exec-attachments.ts";
import { ptyHandlers } from "./pty.ts";
import { subscriptionHandlers } from "./pty-subscriptions.ts";
import { withRecovered } from "./recovered.ts";
import { runtimeHandlers } from "./runtime.ts";
import { sessionHandlers } from "./session.ts";
import { systemHandlers } from "./system.ts";

export type Handlers = {
  [M in MethodName]: (params: Params<M>, context: RequestContext) => Result<M> | Promise<Result<M>>;
};

/** The parts of the daemon that handlers use. */
export interface HandlerServices {
  registry: SessionRegistry;
  counters: ServerCounters;
  version: string;
  maxLineBytes: number;
  stallTimeoutS: number;
  runtimes: Runtimes;
  /** Commands and terminals of a daemon that was killed before this one. */
  recovered: Recovered;
  /** Labels of this daemon, by which clients can pick it as a runtime. */
  labels: readonly string[];
  startedAt: Instant;
  upgrading: Upgrading;
  /** Names of the open transports. */
  transports: string[];
  resumePoints: ResumePoints;
  streamFrames: StreamFrames;
  terminalFrames: TerminalFrames;
  queryReplies: QueryReplies;
}

/** Upgrades of the running daemon. */
export interface Upgrading {
  /** Resolves when the executable has been checked; the upgrade itself begins after the reply. */
  begin(params: UpgradeParams, afterReply: (action: () => void) => void): Promise<UpgradeResult>;
  readonly count: number;
  readonly last: LastUpgrade | null;
}

export function createHandlers(services: HandlerServices): Handlers {
  const handlers: Handlers = {
    ...systemHandlers(services),
    ...sessionHandlers(services),
    ...execHandlers(services),
    ...attachmentHandlers(services),
    ...ptyHandlers(services),
    ...subscriptionHandlers(services),
    ...runtimeHandlers(services),
  };
  return withRecovered(handlers, services);
}

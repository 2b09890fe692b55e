// Serializes the whole daemon into one state document.
import type { Instant } from "../../core/lifetime/instant.ts";
import { steadyMs } from "../../core/lifetime/instant.ts";
import type { SessionRegistry } from "../../core/session/registry.ts";
import { serializeCore } from "../../core/session/upgrade-state.ts";
import type { Recovered } from "../../recovery/recovered.ts";
import type { Runtimes } from "../../remote/runtimes.ts";
import { packCounters, type ServerCounters } from "../../server/counters.ts";
import type { ResumePoints } from "../../server/resume-points.ts";
import type { HttpListener } from "../../server/transports/http/serve.ts";
import type { Listener } from "../../server/transports/listener.ts";
import { version } from "../../util/version.ts";
import type { StateDocument } from "../schema/document.ts";
import type { Packing } from "../schema/fields.ts";
import { lowestVersionFor } from "../schema/versions.ts";

/** The services of a daemon that hold state. */
export interface DaemonState {
  registry: SessionRegistry;
  runtimes: Runtimes;
  counters: ServerCounters;
  resumePoints: ResumePoints;
  recovered: Recovered;
  startedAt: Instant;
  runDir: string;
  /** The held lock of the pid file. */
  lock: { fd: number } | undefined;
  listeners: {
    readonly all: readonly Listener[];
    readonly http: HttpListener | undefined;
    readonly unix: Listener | undefined;
    readonly tls: { cert: string; key: string } | undefined;
    readonly token: string;
  };
}

/** `upgrades`: how often the daemon was upgraded before. */
export function serializeDaemon(daemon: DaemonState, upgrades: number, packing: Packing): StateDocument {
  const { registry, runtimes, counters, resumePoints, recovered, startedAt, runDir, lock, listeners } =
    daemon;
  const { http, unix, tls, token } = listeners;
  const { fd: unixFd } = unix?.listening ?? {};
  const { fd: httpFd } = http?.listening ?? {};
  const state = {
    ...{ version, runDir, token, upgrades },
    writtenAt: Date.now(),
    writtenSteadyMs: steadyMs(),
    startedAt: startedAt.getTime(),
    startedSteadyMs: startedAt.steadyMs,
    lockFd: lock && packing.descriptor(lock.fd),
    unix: unixFd === undefined ? undefined : { fd: packing.descriptor(unixFd) },
    http: http && {
      ...{ url: http.url, port: http.port, tickets: http.tickets(), tls },
      fd: httpFd === undefined ? undefined : packing.descriptor(httpFd),
    },
    counters: packCounters(counters),
    heldPlaces: resumePoints.pack(registry.commands),
    runtimes: runtimes.serialize(),
    core: serializeCore(registry, packing),
    recovered: recovered.list().map((record) => ({ ...record })),
  };
  return { format: lowestVersionFor(state), ...state };
}

// The whole daemon as one document.
import { steadyMs } from "../core/lifetime/instant.ts";
import { packCore } from "../core/session/upgrade-state.ts";
import type { InstanceLock } from "../daemon/instance-lock.ts";
import type { Opened, Services } from "../daemon/listeners.ts";
import { packCounters } from "../server/counters.ts";
import { packResumePoints } from "../server/resume-points.ts";
import { version } from "../util/version.ts";
import { type Handover, handoverFormat } from "./schema/document.ts";
import type { Packing } from "./schema/fields.ts";

type Described = Services &
  Pick<Opened, "http" | "unix" | "tls" | "token"> & { lock: InstanceLock | undefined; runDir: string };

export function describeDaemon(house: Described, packing: Packing): Handover {
  const {
    registry,
    runtimes,
    counters,
    recovered,
    upgrader,
    startedAt,
    http,
    unix,
    tls,
    token,
    lock,
    runDir,
  } = house;
  const { fd: unixFd } = unix?.listening ?? {};
  const { fd: httpFd } = http?.listening ?? {};
  return {
    ...{ format: handoverFormat, version, runDir, token },
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
    heldPlaces: packResumePoints(registry.commands),
    runtimes: runtimes.serialize(),
    core: packCore(registry, packing),
    upgrades: upgrader.count,
    recovered: recovered.list().map((record) => ({ ...record })),
  };
}

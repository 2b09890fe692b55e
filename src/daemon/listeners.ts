// The ways in, as they were asked for: made anew, or as the program before has left them.
import { readFileSync } from "node:fs";
import type { Instant } from "../core/lifetime/instant.ts";
import type { Log } from "../core/log.ts";
import { descriptorLimit } from "../core/resources.ts";
import type { SessionRegistry } from "../core/session/registry.ts";
import type { Recovered } from "../recovery/recovered.ts";
import type { Runtimes } from "../remote/runtimes.ts";
import type { ServerCounters } from "../server/counters.ts";
import type { ResumePoints } from "../server/resume-points.ts";
import { Server } from "../server/server.ts";
import { isLoopback } from "../server/transports/http/gate.ts";
import { HttpListener } from "../server/transports/http/serve.ts";
import type { Listener } from "../server/transports/listener.ts";
import { StdioListener } from "../server/transports/stdio.ts";
import { UnixListener } from "../server/transports/unix.ts";
import type { Handover } from "../upgrade/schema/document.ts";
import type { Upgrader } from "../upgrade/upgrader.ts";
import { tokenVariable } from "../util/token-file.ts";
import { version } from "../util/version.ts";
import { orOptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";
import { freshToken, obtainToken, tokenCheck } from "./token.ts";

/** What the doors lead to. */
export interface Services {
  options: DaemonOptions;
  registry: SessionRegistry;
  runtimes: Runtimes;
  counters: ServerCounters;
  resumePoints: ResumePoints;
  /** What is known of a daemon that was killed. */
  recovered: Recovered;
  upgrader: Upgrader;
  startedAt: Instant;
  log: Log;
}

interface Tls {
  cert: string;
  key: string;
}

export interface Opened {
  doors: Listener[];
  http: HttpListener | undefined;
  unix: Listener | undefined;
  tls: Tls | undefined;
  token: string;
  /** Resolves when standard input has ended, where the daemon speaks there. */
  done: Promise<string>;
}

/** All lead to the same dispatcher. */
export function openListeners(rooms: Services, before: Handover | undefined): Opened {
  const { options, registry, log } = rooms;
  const { socketPath } = options;
  const given = options.env[tokenVariable];
  const token =
    before?.token ??
    (options.hasSocket || options.http ? obtainToken(socketPath, given) : (given ?? freshToken()));
  const isToken = tokenCheck(token);
  const server = serverOf(rooms, isToken);
  const doors: Listener[] = [];
  let done = new Promise<string>(() => {});
  const tls = options.http?.tls && readTls(options.http.tls, before?.http?.tls);
  let http: HttpListener | undefined;
  if (options.http) {
    http = orOptionError(
      `--http${tls ? ", --tls-cert, --tls-key" : ""}`,
      () => new HttpListener({ ...options.http!, tls, isToken, registry, server, before: before?.http }),
    );
    doors.push(http);
    log.info("listening", { http: http.url });
    if (!tls && !isLoopback(options.http.hostname))
      log.warn("HTTP without TLS on an address that others can reach: the token travels in clear text");
  }
  // After what may fail: nothing is left of a daemon that did not start.
  let unix: Listener | undefined;
  if (options.hasSocket) {
    const maxConnections = Math.floor(descriptorLimit() / 2);
    unix = new UnixListener({ path: socketPath, server, maxConnections, fd: before?.unix?.fd });
    doors.push(unix);
  }
  if (options.isStdin) {
    const stdio = new StdioListener(server);
    doors.push(stdio);
    done = stdio.ended;
  }
  return { doors, http, unix, tls, token, done };
}

function serverOf({ options, upgrader, ...services }: Services, isToken: (given: string) => boolean): Server {
  const { maxLineBytes, stallTimeoutS, labels, connectionLimits } = options;
  return new Server({
    ...services,
    ...{ version, maxLineBytes, stallTimeoutS, labels, connectionLimits, isToken },
    transports: transportsOf(options),
    upgrading: upgrader,
  });
}

export function transportsOf({ hasSocket, http, isStdin }: DaemonOptions): string[] {
  const open = [hasSocket && "unix", http && "http", http && "websocket", isStdin && "stdin"];
  return open.filter((name) => typeof name === "string");
}

/** Where the files have gone since, what was in them will do. */
function readTls({ certFile, keyFile }: { certFile: string; keyFile: string }, before: Tls | undefined): Tls {
  return orOptionError("--tls-cert, --tls-key", () => {
    try {
      return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
    } catch (error) {
      if (before) return before;
      throw error;
    }
  });
}

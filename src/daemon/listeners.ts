// The ways in, as they were asked for: made anew, or as the program before has left them.
import { readFileSync } from "node:fs";
import type { Instant } from "../core/lifetime/instant.ts";
import type { Log } from "../core/log.ts";
import { descriptorLimit } from "../core/resources.ts";
import type { SessionRegistry } from "../core/session/registry.ts";
import type { Accelerators } from "../fast/accelerators.ts";
import type { Recovered } from "../recovery/recovered.ts";
import type { Runtimes } from "../remote/runtimes.ts";
import type { ServerCounters } from "../server/counters.ts";
import { Dispatcher } from "../server/dispatch.ts";
import { FrontendAdapter } from "../server/frontend/adapter.ts";
import { createHandlers } from "../server/handlers/handlers.ts";
import { Router } from "../server/router.ts";
import { isLoopback } from "../server/transports/http/gate.ts";
import { type HttpListener, serveHttp } from "../server/transports/http/serve.ts";
import type { Listener } from "../server/transports/listener.ts";
import { serveStdio } from "../server/transports/stdio.ts";
import { serveUnix } from "../server/transports/unix.ts";
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
  accelerators: Accelerators;
  runtimes: Runtimes;
  counters: ServerCounters;
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
  const { options, registry, counters, log } = rooms;
  const { socketPath, maxLineBytes } = options;
  const given = options.env[tokenVariable];
  const token =
    before?.token ??
    (options.hasSocket || options.http ? obtainToken(socketPath, given) : (given ?? freshToken()));
  const isToken = tokenCheck(token);
  const dispatcher = dispatcherOf(rooms, isToken);
  const doors: Listener[] = [];
  let done = new Promise<string>(() => {});
  const tls = options.http?.tls && readTls(options.http.tls, before?.http?.tls);
  let http: HttpListener | undefined;
  if (options.http) {
    http = orOptionError(`--http${tls ? ", --tls-cert, --tls-key" : ""}`, () =>
      serveHttp({
        ...{ ...options.http!, tls, isToken, registry, dispatcher, counters, maxLineBytes },
        before: before?.http,
      }),
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
    const common = { path: socketPath, dispatcher, counters, maxLineBytes, maxConnections };
    unix = serveUnix({ ...common, fd: before?.unix?.fd });
    doors.push(unix);
  }
  if (options.isStdin) {
    const stdio = serveStdio(dispatcher, counters, maxLineBytes);
    doors.push(stdio);
    done = stdio.ended;
  }
  return { doors, http, unix, tls, token, done };
}

function dispatcherOf(rooms: Services, isToken: (given: string) => boolean): Dispatcher {
  const { options, registry, runtimes, counters, recovered, upgrader, startedAt, log } = rooms;
  const { validator, encoder } = rooms.accelerators;
  const { maxLineBytes, stallTimeoutS, labels, connectionLimits } = options;
  const handlers = createHandlers({
    ...{ registry, counters, version, maxLineBytes, stallTimeoutS, runtimes, recovered, labels, startedAt },
    transports: transportsOf(options),
    encoder,
    upgrading: upgrader,
  });
  const router = new Router({ runtimes, registry, handlers, labels, validator });
  const frontend = new FrontendAdapter({ router, terminals: registry.terminals, encoder, isToken });
  return new Dispatcher(router, frontend, counters, connectionLimits, log);
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

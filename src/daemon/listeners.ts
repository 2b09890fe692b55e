// Opens the listeners that the options ask for: HTTP, Unix socket and standard input, all with the same server. In a
// takeover they reuse the listening sockets of the previous executable.
import { readFileSync } from "node:fs";
import type { Log } from "../core/log.ts";
import type { SessionRegistry } from "../core/session/registry.ts";
import { descriptorLimit } from "../platform/own-process.ts";
import type { Server } from "../server/server.ts";
import { isLoopback } from "../server/transports/http/gate.ts";
import { HttpListener } from "../server/transports/http/serve.ts";
import type { Listener } from "../server/transports/listener.ts";
import { StdioListener } from "../server/transports/stdio.ts";
import { UnixListener } from "../server/transports/unix.ts";
import type { StateDocument } from "../upgrade/schema/document.ts";
import { tokenVariable } from "../util/token-file.ts";
import { orOptionError } from "./option-error.ts";
import type { DaemonOptions } from "./options.ts";
import { freshToken, obtainToken, tokenCheck } from "./token.ts";

interface Tls {
  cert: string;
  key: string;
}

export class Listeners {
  readonly token: string;
  readonly isToken: (given: string) => boolean;
  readonly tls: Tls | undefined;
  http: HttpListener | undefined;
  unix: Listener | undefined;
  readonly #all: Listener[] = [];
  readonly #stdinEnded = Promise.withResolvers<string>();

  constructor(
    readonly options: DaemonOptions,
    before: StateDocument | undefined,
    readonly log: Log,
  ) {
    this.token = before?.token ?? tokenFor(options);
    this.isToken = tokenCheck(this.token);
    this.tls = options.http?.tls && readTls(options.http.tls, before?.http?.tls);
  }

  /** From here on requests arrive. The listeners that may fail come first, so that a failed start leaves no socket. */
  open(server: Server, registry: SessionRegistry, before: StateDocument | undefined): void {
    const { options, isToken, tls } = this;
    const { http } = options;
    if (http) {
      this.http = orOptionError(
        `--http${tls ? ", --tls-cert, --tls-key" : ""}`,
        () => new HttpListener({ ...http, tls, isToken, registry, server, before: before?.http }),
      );
      this.#all.push(this.http);
      this.log.info("listening", { http: this.http.url });
      if (!tls && !isLoopback(http.hostname))
        this.log.warn(
          "HTTP without TLS on an address that others can reach: the token travels in clear text",
        );
    }
    if (options.hasSocket) {
      const maxConnections = Math.floor(descriptorLimit() / 2);
      const path = options.socketPath;
      this.unix = new UnixListener({ path, server, maxConnections, fd: before?.unix?.fd });
      this.#all.push(this.unix);
    }
    if (options.isStdin) {
      const stdio = new StdioListener(server);
      this.#all.push(stdio);
      void stdio.ended.then(this.#stdinEnded.resolve);
    }
  }

  get all(): readonly Listener[] {
    return this.#all;
  }

  /** Resolves when standard input has ended, in a daemon that listens there. */
  get stdinEnded(): Promise<string> {
    return this.#stdinEnded.promise;
  }

  stopAccepting(): void {
    for (const listener of this.#all) listener.stopAccepting();
  }

  /** Sends the last replies, then closes every connection. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((listener) => listener.drainAndClose()));
  }
}

/** A daemon that only serves standard input needs no token file. */
function tokenFor({ hasSocket, http, socketPath, env }: DaemonOptions): string {
  const given = env[tokenVariable];
  return hasSocket || http ? obtainToken(socketPath, given) : (given ?? freshToken());
}

/** In a takeover the files may be gone; their previous contents are in the state document. */
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

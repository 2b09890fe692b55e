// Connectors: how each kind of runtime is reached, and the table that registers them. To add a kind:
// 1. Describe its fields in `runtimeKinds` and `AddParams` of src/protocol/runtime.ts, its short form in `targetFields`
//    and fields that exclude each other in `refuseContradictions` of src/protocol/runtime-spec.ts.
// 2. Write a function from the spec and the ConnectorContext to a Connector. If a command can run a shell script there
//    (ssh, docker exec), implement a `Channel` and pass it to `shellConnector`: it copies the executable, starts the
//    daemon and bridges to it. docker.ts and kubernetes.ts are examples. Otherwise provide an `OpenCarrier` for `open`.
//    An engine with Docker's command line (Podman) needs no kind: `program` of the kind `docker` names it.
// 3. Add the function to `connectors` below. The compiler reports a kind without a connector or without a short form.
// 4. Name it in the help of `trl runtimes` (src/cli/commands.ts), the checks of src/cli/doctor/tools.ts, docs/runtimes.md
//    and docs/protocol.md.
import { readFileSync } from "node:fs";
import type { OpenCarrier } from "../../client/carriers/carrier.ts";
import { webCarrier } from "../../client/carriers/websocket.ts";
import type { RuntimeKind, RuntimeSpec, SpecOf } from "../../protocol/runtime.ts";
import type { Executables } from "../provision/executables.ts";
import { dockerConnector } from "./docker.ts";
import { kubernetesConnector } from "./kubernetes.ts";
import { sshConnector } from "./ssh.ts";

export interface Connector {
  /** Connects to the remote daemon. Starts the daemon, and creates what it runs in, if missing. */
  open: OpenCarrier;
  /**
   * Connects only to a daemon that is running, for lists and searches; rejects with a NotStartedError if none is.
   * Undefined if the connector cannot do that.
   */
  find?: OpenCarrier | undefined;
  /** The process at the other end may be the daemon itself, so that only one link to it is possible. */
  mayBeSingleLink?: boolean;
  /** Where the daemon is, for messages to people; without secrets. */
  target: string;
  /** Removes what `open` created. */
  dispose?(): Promise<void>;
}

/** What all connectors share. */
export interface ConnectorContext {
  /** Environment for the commands that connectors start, without the daemon's own settings. */
  env: Record<string, string | undefined>;
  executables: Executables;
  /** A private directory for files of the links. */
  runDir: string;
}

// Imported on first use: these modules load the engine's streams (see util/lazy-modules.ts).
const unix = () => import("../../client/carriers/unix.ts");
const child = () => import("../../client/carriers/child.ts");

type ConnectorFactory<K extends RuntimeKind> = (spec: SpecOf<K>, context: ConnectorContext) => Connector;

const connectors = {
  socket: ({ path }, { env }) => {
    const open: OpenCarrier = async (events) => (await unix()).unixCarrier(path, env)(events);
    return { open, find: open, target: path };
  },

  http: ({ url, token, token_file }) => {
    const { host, pathname, protocol } = new URL(url);
    // The token may change, so each attempt reads the file.
    const open: OpenCarrier = (events) => {
      const known = token ?? (token_file && readFileSync(token_file, "utf8").trim());
      return webCarrier({ url, ...(known ? { token: known } : {}) }, () => WebSocket)(events);
    };
    return { open, find: open, target: `${protocol}//${host}${pathname.replace(/\/$/, "")}` };
  },

  command: ({ argv, env, working_dir }, context) => {
    const commandEnv = { ...context.env, ...withoutNulls(env) };
    const cwd = working_dir === undefined ? {} : { cwd: working_dir };
    // A child carrier opens once, so each link has its own.
    const open: OpenCarrier = async ({ message, closed }) => {
      const { childCarrier } = await child();
      return await childCarrier({ command: argv, env: commandEnv, ...cwd })({
        message,
        // The command may be a bridge, so its end is no NoDaemonError.
        closed: (error) => closed(new Error(error.message)),
      });
    };
    return { open, find: open, mayBeSingleLink: true, target: argv[0]! };
  },

  ssh: sshConnector,
  docker: dockerConnector,
  kubernetes: kubernetesConnector,
} satisfies { [K in RuntimeKind]: ConnectorFactory<K> };

export const reachableKinds = Object.keys(connectors) as RuntimeKind[];

export function connectorOf(spec: RuntimeSpec, context: ConnectorContext): Connector {
  return (connectors[spec.kind] as ConnectorFactory<never>)(spec as never, context);
}

function withoutNulls(env: Record<string, string | null> = {}): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? undefined]));
}

// How each kind of runtime is reached: from its description to what carries frames.
import { readFileSync } from "node:fs";
import type { OpenCarrier } from "../../client/carriers/carrier.ts";
import { webCarrier } from "../../client/carriers/websocket.ts";
import type { RuntimeKind, RuntimeSpec, SpecOf } from "../../protocol/runtime.ts";
import { dockerConnector } from "./docker.ts";
import { kubernetesConnector } from "./kubernetes.ts";
import type { ConnectorContext } from "./shell-connector.ts";
import { sshConnector } from "./ssh.ts";

export interface Connector {
  /** Reaches the daemon there; what must be made or started for that is made and started. */
  open: OpenCarrier;
  /** Reaches it only where it is there already: for those who merely look. Undefined where one cannot merely look. */
  find?: OpenCarrier | undefined;
  /** The process at the other end may be the daemon itself, so that it can be reached once only. */
  mayBePrivate?: boolean;
  /** Where it is, for people; without secrets. */
  target: string;
  /** Removes what was made for it. */
  dispose?(): Promise<void>;
}

/** Its environment is without what is the daemon's own business. */
export type ConnectorSetup = ConnectorContext & { env: Record<string, string> };

// Loaded when they are asked for: they bring the runtime's streams along (see lazy-modules.ts).
const unix = () => import("../../client/carriers/unix.ts");
const child = () => import("../../client/carriers/child.ts");

type ConnectorOf<K extends RuntimeKind> = (spec: SpecOf<K>, context: ConnectorSetup) => Connector;

const openers = {
  socket: ({ path }, { env }) => {
    const open: OpenCarrier = async (events) => (await unix()).unixCarrier(path, env)(events);
    return { open, find: open, target: path };
  },

  http: ({ url, token, token_file }) => {
    const { host, pathname, protocol } = new URL(url);
    // The file is read each time: the daemon there may have been given another token.
    const open: OpenCarrier = (events) => {
      const known = token ?? (token_file && readFileSync(token_file, "utf8").trim());
      return webCarrier({ url, ...(known ? { token: known } : {}) }, () => WebSocket)(events);
    };
    return { open, find: open, target: `${protocol}//${host}${pathname.replace(/\/$/, "")}` };
  },

  command: ({ argv, env, working_dir }, context) => {
    const own = { ...context.env, ...withoutNulls(env) };
    const place = working_dir === undefined ? {} : { cwd: working_dir };
    // A carrier of a child is good for one child; each link has its own.
    const open: OpenCarrier = async ({ message, closed }) => {
      const { childCarrier } = await child();
      return await childCarrier({ command: argv, env: own, ...place })({
        message,
        // That it has ended says nothing of a daemon that it led to.
        closed: (error) => closed(new Error(error.message)),
      });
    };
    return { open, find: open, mayBePrivate: true, target: argv[0]! };
  },

  ssh: sshConnector,
  docker: dockerConnector,
  kubernetes: kubernetesConnector,
} satisfies { [K in RuntimeKind]: ConnectorOf<K> };

export const reachableKinds = Object.keys(openers) as RuntimeKind[];

export function connectorOf(spec: RuntimeSpec, context: ConnectorSetup): Connector {
  return (openers[spec.kind] as ConnectorOf<never>)(spec as never, context);
}

function withoutNulls(env: Record<string, string | null> = {}): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? undefined]));
}

// Commands and terminals of a daemon that was killed, for those who ask for them by their ids: how they ended is known,
// or that they were lost; what they printed is not. Whoever lives by such an id is asked first.
import type { MethodName } from "../../protocol/methods.ts";
import type { Client } from "../outgoing-queue.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";
import { recoveredCommandHandlers } from "./recovered-commands.ts";
import { recoveredTerminalHandlers } from "./recovered-terminals.ts";

export function withRecovered(handlers: Handlers, context: HandlerContext): Handlers {
  const { recovered } = context;
  if (recovered.list().length === 0) return handlers; // as after every orderly end
  const { methods: commands, list: listCommands } = recoveredCommandHandlers(context);
  const { methods: terminals, list: listTerminals } = recoveredTerminalHandlers(context);
  const known = Object.entries({ ...commands, ...terminals }) as [MethodName, Recover][];
  return {
    ...handlers,
    ...Object.fromEntries(known.map(([name, recover]) => [name, asking(recover, handlers[name] as Handler)])),
    "exec.list": async (params, client) => {
      const { streams, ...rest } = await handlers["exec.list"](params, client);
      return { streams: [...listCommands(params), ...streams], ...rest };
    },
    "pty.list": async (params, client) => {
      const { sessions, ...rest } = await handlers["pty.list"](params, client);
      return { sessions: [...sessions, ...listTerminals(params)], ...rest };
    },
  };
}

type Handler = (params: never, client: Client) => unknown;

type Recover = (params: never, client: Client) => (() => unknown) | undefined;

const asking =
  (recover: Recover, handler: Handler): Handler =>
  (params, client) =>
    (recover(params, client) ?? (() => handler(params, client)))();

// Commands and terminals of a daemon that was killed, by their ids. It is known how they ended, or that they were lost;
// their output is gone. A live command or terminal with the same id takes precedence.
import type { MethodName } from "../../protocol/methods.ts";
import type { RequestContext } from "../request-context.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";
import { recoveredCommandHandlers } from "./recovered-commands.ts";
import { recoveredTerminalHandlers } from "./recovered-terminals.ts";

export function withRecovered(handlers: Handlers, services: HandlerServices): Handlers {
  const { recovered } = services;
  if (recovered.list().length === 0) return handlers; // the daemon before was not killed
  const { methods: commands, list: listCommands } = recoveredCommandHandlers(services);
  const { methods: terminals, list: listTerminals } = recoveredTerminalHandlers(services);
  const known = Object.entries({ ...commands, ...terminals }) as [MethodName, Recover][];
  return {
    ...handlers,
    ...Object.fromEntries(
      known.map(([name, recover]) => [name, recoveringFirst(recover, handlers[name] as Handler)]),
    ),
    "exec.list": async (params, context) => {
      const { streams, ...rest } = await handlers["exec.list"](params, context);
      return { streams: [...listCommands(params), ...streams], ...rest };
    },
    "pty.list": async (params, context) => {
      const { sessions, ...rest } = await handlers["pty.list"](params, context);
      return { sessions: [...sessions, ...listTerminals(params)], ...rest };
    },
  };
}

type Handler = (params: never, context: RequestContext) => unknown;

type Recover = (params: never, context: RequestContext) => (() => unknown) | undefined;

const recoveringFirst =
  (recover: Recover, handler: Handler): Handler =>
  (params, context) =>
    (recover(params, context) ?? (() => handler(params, context)))();

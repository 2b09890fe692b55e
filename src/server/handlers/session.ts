import { sessionInfo, sessionSummary } from "../../core/pty/summary.ts";
import { describeSession, inspectSession } from "../../core/session/describe.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

type SessionHandlers = Pick<Handlers, "session.create" | "session.list" | "session.info" | "session.destroy">;

export function sessionHandlers({ registry }: HandlerContext): SessionHandlers {
  return {
    "session.create": (params, { quota }) => quota.makeSession(registry.has, () => registry.create(params)),

    "session.list": () => ({
      sessions: [...registry.list().map(describeSession), ...registry.terminals.live.map(sessionSummary)],
    }),

    "session.info": ({ session_id }) => {
      const { terminals } = registry;
      return terminals.has(session_id)
        ? sessionInfo(terminals.get(session_id))
        : inspectSession(registry.get(session_id));
    },

    "session.destroy": async ({ session_id, force = false }) => {
      await registry.destroy(session_id, force);
      return { session_id, state: "terminated" };
    },
  };
}

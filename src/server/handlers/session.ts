// Sessions; session.list and session.info include terminals.
import { describeSession, inspectSession } from "../../core/session/describe.ts";
import { sessionInfo, sessionSummary } from "../../core/terminal/summary.ts";
import { hostRuntime as runtime } from "../../protocol/runtime.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";

type SessionHandlers = Pick<Handlers, "session.create" | "session.list" | "session.info" | "session.destroy">;

export function sessionHandlers({ registry }: HandlerServices): SessionHandlers {
  return {
    "session.create": (params, { connection: { quota } }) =>
      quota.createSession(registry.isLive, async () => ({
        ...(await registry.create(params, quota.owner)),
        runtime,
      })),

    "session.list": () => ({
      sessions: [...registry.list().map(describeSession), ...registry.terminals.live.map(sessionSummary)].map(
        (summary) => ({ ...summary, runtime }),
      ),
    }),

    "session.info": async ({ session_id }) => {
      const { terminals } = registry;
      if (terminals.has(session_id)) return { ...(await sessionInfo(terminals.get(session_id))), runtime };
      return { ...(await inspectSession(registry.get(session_id))), runtime };
    },

    "session.destroy": async ({ session_id, force = false }) => {
      const left = await registry.destroy(session_id, force);
      return { session_id, state: "terminated", ...(left.length > 0 ? { left } : {}) };
    },
  };
}

import { sessionInfo, sessionSummary } from "../../core/pty/summary.ts";
import { describeSession, inspectSession } from "../../core/session/describe.ts";
import { hostRuntime as runtime } from "../../protocol/runtime.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

type SessionHandlers = Pick<Handlers, "session.create" | "session.list" | "session.info" | "session.destroy">;

/** A shell tells within a millisecond or two what it has become; one that was stopped does not. */
const tellingMaxMs = 100;

export function sessionHandlers({ registry }: HandlerContext): SessionHandlers {
  return {
    "session.create": (params, { quota }) =>
      quota.makeSession(registry.isLive, async () => ({
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
      const told = registry.get(session_id).spec.executor.tell?.();
      if (told) await Promise.race([told, Bun.sleep(tellingMaxMs)]);
      return { ...(await inspectSession(registry.get(session_id))), runtime };
    },

    "session.destroy": async ({ session_id, force = false }) => {
      const left = await registry.destroy(session_id, force);
      return { session_id, state: "terminated", ...(left.length > 0 ? { left } : {}) };
    },
  };
}

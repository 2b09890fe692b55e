import type { HandlerContext, Handlers } from "./handlers.ts";

type SessionHandlers = Pick<Handlers, "session.create" | "session.list" | "session.info" | "session.destroy">;

export function sessionHandlers({ registry }: HandlerContext): SessionHandlers {
  return {
    "session.create": (params) => registry.create(params),

    "session.list": () => ({ sessions: registry.list().map((session) => session.summary()) }),

    "session.info": ({ session_id }) => registry.get(session_id).info(),

    "session.destroy": async ({ session_id, force = false }) => {
      await registry.destroy(session_id, force);
      return { session_id, state: "terminated" };
    },
  };
}

// Which params decide the runtime that answers a request.
import type { MethodName } from "../protocol/methods.ts";

/**
 * `local`: always this daemon. `create`: `runtime` and `needs`. `session`, `stream`: the daemon that has the id.
 * `either`: `session_id` or `stream_id`. `all`: the replies of all runtimes together.
 */
export type Routing = "local" | "create" | "session" | "stream" | "either" | "all";

export const routingOf: Record<MethodName, Routing> = {
  "system.ping": "local",
  "system.stats": "local",
  "system.describe": "local",
  "system.upgrade": "local",
  "session.create": "create",
  "session.list": "all",
  "session.info": "session",
  "session.destroy": "session",
  "exec.run": "session",
  "exec.stream": "session",
  "exec.write": "stream",
  "exec.cancel": "either",
  "exec.attach": "stream",
  "exec.ack": "stream",
  "exec.wait": "stream",
  "exec.detach": "stream",
  "exec.list": "all",
  "pty.create": "create",
  "pty.write": "session",
  "pty.resize": "session",
  "pty.close": "session",
  "pty.list": "all",
  "pty.subscribe": "session",
  "pty.ack": "session",
  "pty.unsubscribe": "session",
  "pty.snapshot": "session",
  "pty.wait": "session",
  "runtime.list": "local",
  "runtime.add": "local",
  "runtime.remove": "local",
  "runtime.check": "local",
};

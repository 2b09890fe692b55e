// By which of its params a request finds the runtime that it is for.
import type { MethodName } from "../protocol/methods.ts";

/** `here`: it is about this daemon. `all`: it is about all runtimes together. */
export type Place = "here" | "create" | "session" | "stream" | "either" | "all";

export const places: Record<MethodName, Place> = {
  "system.ping": "here",
  "system.stats": "here",
  "system.describe": "here",
  "system.upgrade": "here",
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
  "runtime.list": "here",
  "runtime.add": "here",
  "runtime.remove": "here",
  "runtime.check": "here",
};

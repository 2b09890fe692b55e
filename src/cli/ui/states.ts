// How something is or has ended, in one word or two, and in which colour.
import type { Tone } from "../../util/style.ts";

interface End {
  exit_code: number | null;
  signal: string | null;
  reason?: string | null;
}

/** `exited 0`, `SIGTERM`, `timeout`, `cancelled`, `lost`: whatever says most. */
export function endText({ exit_code, signal, reason }: End): string {
  if (reason === "timeout" || reason === "cancelled" || reason === "lost") return reason;
  return signal ?? `exited ${exit_code}`;
}

/** What goes well is green while it runs and quiet afterwards; what somebody stopped is no failure. */
export function stateTone(state: string, end?: End): Tone | undefined {
  if (state === "running") return "green";
  if (end === undefined || end.exit_code === null) return undefined;
  if (end.reason === "cancelled") return "yellow";
  return end.exit_code === 0 ? "dim" : "red";
}

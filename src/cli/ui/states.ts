// Text and colour of a state or an end.
import type { Tone } from "../../util/style.ts";

interface End {
  exit_code: number | null;
  signal: string | null;
  reason?: string | null;
}

/** `exited 0`, `SIGTERM`, `timeout`, `cancelled` or `lost`: the most specific one. */
export function endText({ exit_code, signal, reason }: End): string {
  if (reason === "timeout" || reason === "cancelled" || reason === "lost") return reason;
  return signal ?? `exited ${exit_code}`;
}

/** Running is green, success dim, failure red; cancelled is yellow, because it is not a failure. */
export function stateTone(state: string, end?: End): Tone | undefined {
  if (state === "running") return "green";
  if (end === undefined || end.exit_code === null) return undefined;
  if (end.reason === "cancelled") return "yellow";
  return end.exit_code === 0 ? "dim" : "red";
}

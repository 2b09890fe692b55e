// When a session or terminal will be ended by itself: some time after it was last used, or when it is old.

import { Instant, steadyMs } from "./instant.ts";

export interface Lifetime {
  createdAt: Instant;
  lastActivity: Instant;
  /** 0 = never, for both. */
  idleTimeoutS: number;
  maxAgeS: number;
  /** A command runs, or somebody is attached: then it is not idle, however long nothing has happened. */
  isInUse: boolean;
}

export interface Expiry {
  /** By the wall clock as it is set now. */
  at: Date;
  leftMs: number;
  by: "idle" | "age";
}

/** The earlier of the two, if nothing happens until then. */
export function expiryOf(lifetime: Lifetime, now = new Instant()): Expiry | undefined {
  const { createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse } = lifetime;
  const ends: Expiry[] = [];
  if (idleTimeoutS > 0 && !isInUse) ends.push({ ...after(lastActivity, idleTimeoutS, now), by: "idle" });
  if (maxAgeS > 0) ends.push({ ...after(createdAt, maxAgeS, now), by: "age" });
  return ends.sort((a, b) => a.leftMs - b.leftMs)[0];
}

/** Whatever happens, it is not over before: use makes it later. By the steady clock. */
export function earliestEnd({ createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse }: Lifetime): number {
  const idleSince = isInUse ? steadyMs() : lastActivity.steadyMs;
  return Math.min(
    idleTimeoutS > 0 ? idleSince + idleTimeoutS * 1000 : Number.POSITIVE_INFINITY,
    maxAgeS > 0 ? createdAt.steadyMs + maxAgeS * 1000 : Number.POSITIVE_INFINITY,
  );
}

export const isOver = (expiry: Expiry | undefined): expiry is Expiry =>
  expiry !== undefined && expiry.leftMs <= 0;

export const expiryFields = (expiry: Expiry | undefined) => ({
  expires_at: expiry?.at.toISOString() ?? null,
  expires_by: expiry?.by ?? null,
});

/** The last moment that a Date can hold, in ms: a limit may be longer than time. */
const dateMaxMs = 8.64e15;

/** Less is no setting of the clock: it is how the two are read one after the other. */
const clockSetMinMs = 1000;

function after(begin: Instant, seconds: number, now: Instant): Pick<Expiry, "at" | "leftMs"> {
  const passedMs = now.steadyMs - begin.steadyMs;
  const setMs = now.getTime() - begin.getTime() - passedMs;
  const shownMs =
    begin.getTime() + (Math.abs(setMs) < clockSetMinMs ? 0 : Math.round(setMs)) + seconds * 1000;
  return { at: new Date(Math.min(shownMs, dateMaxMs)), leftMs: seconds * 1000 - passedMs };
}

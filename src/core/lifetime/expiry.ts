// When a session or terminal expires: some time after its last use, or at a maximum age.

import { Instant, steadyMs } from "./instant.ts";

export interface Lifetime {
  createdAt: Instant;
  lastActivity: Instant;
  /** 0 means never, for both. */
  idleTimeoutS: number;
  maxAgeS: number;
  /** A command runs, or a client is attached: then it is not idle, however long nothing has happened. */
  isInUse: boolean;
}

export interface Expiry {
  /** On the wall clock as it is set now. */
  at: Date;
  leftMs: number;
  by: "idle" | "age";
}

/** The earlier of the two ends, assuming no use until then. */
export function expiryOf(lifetime: Lifetime, now = new Instant()): Expiry | undefined {
  const { createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse } = lifetime;
  const expiries: Expiry[] = [];
  if (idleTimeoutS > 0 && !isInUse) expiries.push({ ...after(lastActivity, idleTimeoutS, now), by: "idle" });
  if (maxAgeS > 0) expiries.push({ ...after(createdAt, maxAgeS, now), by: "age" });
  return expiries.sort((a, b) => a.leftMs - b.leftMs)[0];
}

/** A lower bound of the expiry on the steady clock: use only postpones it. */
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

/** The last moment that a Date can represent, in ms: a limit may reach beyond it. */
const dateMaxMs = 8.64e15;

/** A smaller difference comes from reading the two clocks one after the other, and not from a clock that was set. */
const clockSetMinMs = 1000;

function after(begin: Instant, seconds: number, now: Instant): Pick<Expiry, "at" | "leftMs"> {
  const passedMs = now.steadyMs - begin.steadyMs;
  const setMs = now.getTime() - begin.getTime() - passedMs;
  const shownMs =
    begin.getTime() + (Math.abs(setMs) < clockSetMinMs ? 0 : Math.round(setMs)) + seconds * 1000;
  return { at: new Date(Math.min(shownMs, dateMaxMs)), leftMs: seconds * 1000 - passedMs };
}

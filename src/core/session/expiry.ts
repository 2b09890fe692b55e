// When a session or terminal will be ended by itself: some time after it was last used, or when it is old.

export interface Lifetime {
  createdAt: Date;
  lastActivity: Date;
  /** 0 = never, for both. */
  idleTimeoutS: number;
  maxAgeS: number;
  /** A command runs, or somebody is attached: then it is not idle, however long nothing has happened. */
  isInUse: boolean;
}

export interface Expiry {
  at: Date;
  by: "idle" | "age";
}

/** The earlier of the two, if nothing happens until then. */
export function expiryOf(lifetime: Lifetime): Expiry | undefined {
  const { createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse } = lifetime;
  const ends: Expiry[] = [];
  if (idleTimeoutS > 0 && !isInUse) ends.push({ at: after(lastActivity, idleTimeoutS), by: "idle" });
  if (maxAgeS > 0) ends.push({ at: after(createdAt, maxAgeS), by: "age" });
  return ends.sort((a, b) => a.at.getTime() - b.at.getTime())[0];
}

/** Whatever happens, it is not over before: use makes it later. In ms since the epoch. */
export function earliestEnd({ createdAt, lastActivity, idleTimeoutS, maxAgeS, isInUse }: Lifetime): number {
  const idleSince = isInUse ? Date.now() : lastActivity.getTime();
  return Math.min(
    idleTimeoutS > 0 ? idleSince + idleTimeoutS * 1000 : Number.POSITIVE_INFINITY,
    maxAgeS > 0 ? createdAt.getTime() + maxAgeS * 1000 : Number.POSITIVE_INFINITY,
  );
}

export const isOver = (expiry: Expiry | undefined): expiry is Expiry =>
  expiry !== undefined && expiry.at.getTime() <= Date.now();

export const expiryFields = (expiry: Expiry | undefined) => ({
  expires_at: expiry?.at.toISOString() ?? null,
  expires_by: expiry?.by ?? null,
});

/** The last moment that a Date can hold, in ms: a limit may be longer than time. */
const dateMaxMs = 8.64e15;

const after = (date: Date, seconds: number) => new Date(Math.min(date.getTime() + seconds * 1000, dateMaxMs));

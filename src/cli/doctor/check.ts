// One thing to look at on this machine, and what was found.

export type Status = "ok" | "note" | "problem";

export interface Finding {
  /** A note is worth knowing; a problem keeps trl from its work, or is dangerous. */
  status: Status;
  summary: string;
  /** What it means. */
  detail?: string;
  remedy?: string;
}

export interface Check {
  id: string;
  group: string;
  run(): Finding | Promise<Finding>;
  limitMs?: number;
}

export interface CheckReport {
  id: string;
  group: string;
  status: Status;
  summary: string;
  detail: string | null;
  remedy: string | null;
}

const usualLimitMs = 2000;

type More = Pick<Finding, "detail" | "remedy">;

export const ok = (summary: string, more: More = {}): Finding => ({ status: "ok", summary, ...more });
export const note = (summary: string, more: More = {}): Finding => ({ status: "note", summary, ...more });
export const problem = (summary: string, more: More = {}): Finding => ({
  status: "problem",
  summary,
  ...more,
});

/** All at once; none is waited for longer than its limit. */
export const runChecks = (checks: Check[]): Promise<CheckReport[]> => Promise.all(checks.map(runCheck));

async function runCheck({ id, group, run, limitMs = usualLimitMs }: Check): Promise<CheckReport> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(
    () => resolve(problem(`${id} could not be looked at within ${limitMs / 1000} s`, { remedy: busyRemedy })),
    limitMs,
  );
  const found = await Promise.race([Promise.try(run).catch(failed(id)), late]);
  clearTimeout(timer);
  const { status, summary, detail = null, remedy = null } = found;
  return { id, group, status, summary, detail, remedy };
}

const busyRemedy = "look again when the machine is less busy; if it stays, something there hangs";

const failed = (id: string) => (error: unknown) =>
  problem(`${id} could not be looked at: ${error instanceof Error ? error.message : String(error)}`);

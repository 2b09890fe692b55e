// Types of the doctor's checks, and running them with a timeout.

export type Status = "ok" | "note" | "problem";

export interface Finding {
  /** A problem keeps trl from working or is a security risk; a note is neither. */
  status: Status;
  summary: string;
  /** The consequence. */
  detail?: string;
  remedy?: string;
}

export interface Check {
  id: string;
  group: string;
  run(): Finding | Promise<Finding>;
  timeoutMs?: number;
}

export interface CheckReport {
  id: string;
  group: string;
  status: Status;
  summary: string;
  detail: string | null;
  remedy: string | null;
}

const defaultTimeoutMs = 2000;

type More = Pick<Finding, "detail" | "remedy">;

export const ok = (summary: string, more: More = {}): Finding => ({ status: "ok", summary, ...more });
export const note = (summary: string, more: More = {}): Finding => ({ status: "note", summary, ...more });
export const problem = (summary: string, more: More = {}): Finding => ({
  status: "problem",
  summary,
  ...more,
});

/** Runs all checks concurrently, each with its timeout. */
export const runChecks = (checks: Check[]): Promise<CheckReport[]> => Promise.all(checks.map(runCheck));

async function runCheck({ id, group, run, timeoutMs = defaultTimeoutMs }: Check): Promise<CheckReport> {
  const { promise: late, resolve } = Promise.withResolvers<Finding>();
  const timer = setTimeout(
    () =>
      resolve(problem(`${id} could not be looked at within ${timeoutMs / 1000} s`, { remedy: busyRemedy })),
    timeoutMs,
  );
  const found = await Promise.race([Promise.try(run).catch(failed(id)), late]);
  clearTimeout(timer);
  const { status, summary, detail = null, remedy = null } = found;
  return { id, group, status, summary, detail, remedy };
}

const busyRemedy = "look again when the machine is less busy; if it stays, something there hangs";

const failed = (id: string) => (error: unknown) =>
  problem(`${id} could not be looked at: ${error instanceof Error ? error.message : String(error)}`);

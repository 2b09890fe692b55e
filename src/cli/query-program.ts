// Another program, asked for something: with a limit on its time, whatever it and its children do.

export interface Answer {
  /** Null where it was ended by a signal or was too late. */
  code: number | null;
  out: string;
  err: string;
  isLate: boolean;
}

export interface QueryOptions {
  limitMs: number;
  env?: Record<string, string | undefined>;
}

/** Undefined where there is no such program. */
export async function queryProgram(
  words: [string, ...string[]],
  { limitMs, env = process.env }: QueryOptions,
): Promise<Answer | undefined> {
  const path = Bun.which(words[0], { PATH: env["PATH"] ?? "" });
  if (!path) return undefined;
  const child = start([path, ...words.slice(1)], env);
  if (child instanceof Error) return { code: null, out: "", err: child.message, isLate: false };
  const answer: Answer = { code: null, out: "", err: "", isLate: false };
  const told = Promise.all([
    child.exited,
    gather(child.stdout, (text) => (answer.out += text)),
    gather(child.stderr, (text) => (answer.err += text)),
  ]);
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), limitMs);
  answer.isLate = (await Promise.race([told, late])) === "late";
  clearTimeout(timer);
  if (answer.isLate) endGroup(child.pid);
  return { ...answer, code: answer.isLate ? null : child.exitCode };
}

/** One that is there but cannot be run, as for another processor, has answered badly. */
function start(words: string[], env: QueryOptions["env"]) {
  try {
    return Bun.spawn(words, {
      env: { ...env, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a group of its own, which can be ended as a whole
    });
  } catch (error) {
    return error as Error;
  }
}

async function gather(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has just ended
  }
}

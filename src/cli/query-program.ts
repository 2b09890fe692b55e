// Runs another program for its output, with a timeout that also holds if its children keep the pipes open.

export interface Answer {
  /** Null after a signal or the timeout. */
  code: number | null;
  out: string;
  err: string;
  isLate: boolean;
}

export interface QueryOptions {
  limitMs: number;
  env?: Record<string, string | undefined>;
}

/** Undefined if the program is not in PATH. */
export async function queryProgram(
  words: [string, ...string[]],
  { limitMs, env = process.env }: QueryOptions,
): Promise<Answer | undefined> {
  const path = Bun.which(words[0], { PATH: env["PATH"] ?? "" });
  if (!path) return undefined;
  const child = start([path, ...words.slice(1)], env);
  if (child instanceof Error) return { code: null, out: "", err: child.message, isLate: false };
  const answer: Answer = { code: null, out: "", err: "", isLate: false };
  const finished = Promise.all([
    child.exited,
    gather(child.stdout, (text) => (answer.out += text)),
    gather(child.stderr, (text) => (answer.err += text)),
  ]);
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), limitMs);
  answer.isLate = (await Promise.race([finished, late])) === "late";
  clearTimeout(timer);
  if (answer.isLate) endGroup(child.pid);
  return { ...answer, code: answer.isLate ? null : child.exitCode };
}

/** A file that exists but cannot be executed, such as one for another CPU, yields an error. */
function start(words: string[], env: QueryOptions["env"]) {
  try {
    return Bun.spawn(words, {
      env: { ...env, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // own process group, so that endGroup kills its children, too
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
    // the group has ended already
  }
}

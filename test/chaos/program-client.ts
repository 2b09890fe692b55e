// The command line: a process of its own, which is killed for certain now and then.
import { binary } from "../support/program.ts";
import { drawLast, seqText } from "./outputs.ts";
import { type Step, step, type World } from "./world.ts";

export class ProgramClient {
  constructor(
    readonly world: World,
    readonly name: string,
  ) {}
}

const run = step({
  name: "program: run",
  weight: 1,
  draw: (random) => ({
    last: drawLast(random),
    code: random.pick([0, 5]),
    killAfterMs: random.pick([undefined, 20, 90]),
  }),
  async act({ world, name }: ProgramClient, { last, code, killAfterMs }) {
    const { books, daemon } = world;
    const child = Bun.spawn([binary, "run", "--", `seq 1 ${last}; exit ${code}`], {
      env: { PATH: process.env["PATH"], HOME: "/", TRL_SOCKET_PATH: daemon.socketPath },
      stdio: ["ignore", "pipe", "pipe"],
      cwd: "/",
    });
    books.figures.requests++;
    const killing =
      killAfterMs === undefined ? undefined : Bun.sleep(killAfterMs).then(() => child.kill("SIGKILL"));
    const [out, err] = await Promise.all([child.stdout.bytes(), child.stderr.text()]);
    await child.exited;
    await killing;
    books.figures.bytes += out.length;
    const expected = seqText(last);
    if (Buffer.compare(expected.subarray(0, out.length), out) !== 0)
      books.problem(`${name}: other bytes than expected`);
    if (child.signalCode === "SIGKILL") {
      books.fault("program killed");
      books.figures.abandoned++;
    } else if (books.isEnding) books.figures.cutOff++;
    else {
      books.figures.answered++;
      const isRefused = child.exitCode === 75; // as many sessions as there may be
      if (!isRefused && (child.exitCode !== code || out.length !== expected.length))
        books.problem(`${name}: exit ${child.exitCode}, ${out.length} of ${expected.length} bytes: ${err}`);
    }
  },
});

export const programSteps: Step<unknown, ProgramClient>[] = [run];

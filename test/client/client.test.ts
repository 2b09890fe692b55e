// The client as it is packed, in Node.js and in Bun, over each transport: the same cases everywhere.
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import "../support/program.ts";
import { cases } from "./cases.ts";
import type { Transport } from "./world.ts";

const root = join(import.meta.dir, "../..");
const programs = { node: "node", bun: process.execPath };
const allMs = 240_000;
/** How long a process may take to end by itself, after all has been said. */
const endMs = 20_000;

interface Outcome {
  name: string;
  error?: string;
}

const afterAll = ["nothing is thrown where nobody hears it", "the process ends by itself"];

/** Within the package's directory, so that `trl/client` is what its exports say. */
async function bundle(): Promise<string> {
  const result = await Bun.build({
    entrypoints: ["runner.ts", "leaver.ts"].map((file) => join(import.meta.dir, file)),
    outdir: join(root, "dist/test-client"),
    target: "node",
    external: ["trl/client", "trl/protocol"],
  });
  if (!result.success) throw new AggregateError(result.logs, "the cases could not be built");
  return result.outputs[0]!.path;
}

async function runAll(program: string, transport: Transport, script: string): Promise<Map<string, Outcome>> {
  const child = Bun.spawn([program, script, transport], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const errorsRead = new Response(child.stderr).text();
  let said = "";
  let late: ReturnType<typeof setTimeout> | undefined;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (said.includes(afterAll[0]!)) late ??= setTimeout(() => child.kill("SIGKILL"), endMs);
  }
  const [errors, exitCode] = await Promise.all([errorsRead, child.exited]);
  clearTimeout(late);
  const outcomes = said
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Outcome);
  const error = exitCode === 0 ? {} : { error: `exit code ${exitCode}:\n${errors}` };
  return new Map([...outcomes, { name: afterAll[1]!, ...error }].map((outcome) => [outcome.name, outcome]));
}

// Two at a time: most of what they do is wait.
let script: Promise<string> | undefined;
const ends: Promise<unknown>[] = [];
const atOnce = 2;

function started(program: string, transport: Transport): Promise<Map<string, Outcome>> {
  script ??= bundle();
  const turn = ends.at(-atOnce);
  const outcomes = Promise.all([script, turn]).then(([file]) => runAll(program, transport, file));
  ends.push(outcomes.catch(() => {}));
  return outcomes;
}

const runs = Object.entries(programs).flatMap(([runtime, program]) =>
  (["socket", "http", "stdio"] as const).map((transport) => ({ runtime, program, transport })),
);
let all: Promise<Map<string, Outcome>>[] = [];
beforeAll(() => {
  all = runs.map(({ program, transport }) => started(program, transport));
});

for (const [index, { runtime, transport }] of runs.entries()) {
  describe(`${runtime}, ${transport}:`, () => {
    let outcomes: Map<string, Outcome>;
    beforeAll(async () => {
      outcomes = await all[index]!;
    }, allMs);

    const here = cases.filter(({ on }) => on?.includes(transport) ?? true).map(({ name }) => name);
    for (const name of [...here, ...afterAll])
      test(name, () => expect(outcomes.get(name) ?? { error: "was not run" }).not.toHaveProperty("error"));
  });
}

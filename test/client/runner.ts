// Runs every case over one transport, in whatever engine it is started with, and says a line of JSON for each.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cases } from "./cases.ts";
import { ApplicationError, applicationErrors, soon, startDaemon, type Transport, World } from "./world.ts";

const [transport = "socket", only = ""] = process.argv.slice(2) as [Transport?, string?];
const atOnce = 4;
const caseMs = 60_000;

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const stray: string[] = [];
const keep = (error: unknown) => {
  if (error instanceof ApplicationError) applicationErrors.push(error);
  else stray.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
};
process.on("unhandledRejection", keep);
process.on("uncaughtException", keep);

const dir = mkdtempSync(join(tmpdir(), "trl-client-shared-"));
const shared = await startDaemon(dir);
const waiting = cases.filter(({ on, name }) => (on?.includes(transport) ?? true) && name.includes(only));

const errorOf = (promise: Promise<void>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (thrown: Error) => thrown.stack ?? thrown.message,
  );

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { name, run } = next;
    const started = performance.now();
    const world = new World(transport, shared);
    const failed = await errorOf(soon(name, run(world), caseMs));
    const left = await errorOf(world[Symbol.asyncDispose]());
    say({ name, ms: Math.round(performance.now() - started), error: failed ?? left });
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
await shared[Symbol.asyncDispose]();
rmSync(dir, { recursive: true, force: true });
say({
  name: "nothing is thrown where nobody hears it",
  error: stray.length > 0 ? stray.join("\n\n") : undefined,
});
// No process.exit: that it ends by itself is tested.

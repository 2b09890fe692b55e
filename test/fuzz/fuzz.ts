// Runs a property over bytes, in bounded time, and tells of a failure all that is needed to keep it.
import fc from "fast-check";
import { isFull } from "../support/transport.ts";

export type ListenerName = "socket" | "frontend" | "http" | "websocket";

/** More is had with TRL_FUZZ_RUNS, which then decides alone. */
const askedRuns = process.env["TRL_FUZZ_RUNS"];
const numRuns = Number(askedRuns ?? 250);
const seed = Number(process.env["TRL_FUZZ_SEED"] ?? 20_260_104);
const defaultMs = 2000;
export const fuzzTimeoutMs = 120_000 + numRuns * 200;

export const settings = {
  seed,
  numRuns,
  ...(askedRuns === undefined && !isFull ? { interruptAfterTimeLimit: defaultMs } : {}),
};

export async function holdsForBytes(
  listener: ListenerName,
  inputs: fc.Arbitrary<Uint8Array>,
  check: (input: Uint8Array) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(inputs, check);
  const details = await fc.check(property, settings);
  if (!details.failed) return;
  const [input] = details.counterexample ?? [new Uint8Array(0)];
  const { errorInstance } = details;
  const message =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  throw new Error(`${message}\n${failureText(listener, input)}\nall of it: TRL_FUZZ_SEED=${details.seed}`);
}

export function failureText(listener: ListenerName, input: Uint8Array): string {
  const bytes = Buffer.from(input);
  return [
    `the smallest input that fails: ${JSON.stringify(bytes.toString("latin1")).slice(0, 2000)}`,
    `keep it: echo ${bytes.toString("base64")} | base64 -d > test/fuzz/corpus/${listener}/NAME`,
  ].join("\n");
}

// How the tests reach the daemon, and where what they start lives. The tests are the same over every transport and in
// every runtime: those in test/integration run over the socket and on the host; its folders transports and remote run
// them again.
import * as bun from "bun:test";
import { needs } from "./needs.ts";
import type { RequirementName } from "./requirements.ts";

export type TransportName = "unix" | "websocket" | "http" | "stdin";
/** Sessions live in a runtime of that name, which a daemon in front of it is asked for. */
export type RuntimeKind = "host" | "socket" | "command" | "ssh" | "docker";

/** `npm run test:full`: the long variants as well. */
export const isFull = process.env["TRL_TEST_FULL"] === "1";

let current: TransportName = "unix";
let currentRuntime: RuntimeKind = "host";

export const transport = (): TransportName => current;
export const place = (): RuntimeKind => currentRuntime;

/** Runs test files of test/integration over another transport. */
export function runOver(name: TransportName, files: string[]): void {
  current = name;
  runAgain(`over ${name}`, name, files);
  bun.afterAll(() => {
    current = "unix";
  });
}

/** Runs test files of test/integration with what they start in another runtime, which may need something. */
export function runIn(name: RuntimeKind, files: string[], ...required: RequirementName[]): void {
  currentRuntime = name;
  runAgain(`in a runtime of kind ${name}`, `in-${name}`, files, required);
  bun.afterAll(() => {
    currentRuntime = "host";
  });
}

/** The address makes it another module: each has its tests, its daemons and its state. */
function runAgain(how: string, key: string, files: string[], required: RequirementName[] = []): void {
  for (const file of files)
    needs(...required).describe(`${file} ${how}`, async () => {
      await import(`../integration/${file}.test.ts?${key}`);
    });
}

/** For what is no part of this run: it is not declared at all, so that it counts neither as run nor as skipped. */
const undeclared = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof bun.test;

const isPart = (names: (TransportName | "runtime")[]) =>
  !names.includes(current) && (currentRuntime === "host" || !names.includes("runtime"));

/** For a test that some transports leave out, or all runtimes but the host; the reason is for the reader. */
export const testExceptOver = (
  names: (TransportName | "runtime")[],
  _because: string,
  ...required: RequirementName[]
) => (isPart(names) ? needs(...required).test : undeclared);

/** For a long test that these leave to `npm run test:full`, because others show the same. */
export const testInFullOver = (...names: (TransportName | "runtime")[]) =>
  isFull || isPart(names) ? bun.test : undeclared;

const isFirstRun = () => current === "unix" && currentRuntime === "host";

/** For a test that takes its time for something in which neither transport nor runtime has a part. */
export const testOnce = (...required: RequirementName[]) =>
  isFirstRun() ? needs(...required).test : undeclared;

/** How often a test repeats something: where it is run again, a few times show as much. */
export const times = (atFirst: number, again: number) => (isFirstRun() ? atFirst : again);

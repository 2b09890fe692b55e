// How the tests reach the daemon, and where what they start lives. The tests are the same over every transport and in
// every runtime: those in test/integration run over the socket and on the host, test/transports and test/runtimes run
// them again.
import { afterAll, describe, test } from "bun:test";

export type TransportName = "unix" | "websocket" | "http" | "stdin";
/** Sessions live in a runtime of that name, which a daemon in front of it is asked for. */
export type PlaceName = "host" | "socket" | "web" | "command" | "ssh" | "docker";

let current: TransportName = "unix";
let currentPlace: PlaceName = "host";

export const transport = (): TransportName => current;
export const place = (): PlaceName => currentPlace;

/** Runs test files of test/integration over another transport. */
export function runOver(name: TransportName, files: string[]): void {
  current = name;
  runAgain(`over ${name}`, name, files);
  afterAll(() => {
    current = "unix";
  });
}

/** Runs test files of test/integration with what they start in another runtime. */
export function runIn(name: PlaceName, files: string[]): void {
  currentPlace = name;
  runAgain(`in a runtime of kind ${name}`, `in-${name}`, files);
  afterAll(() => {
    currentPlace = "host";
  });
}

/** The address makes it another module: each has its tests, its daemons and its state. */
function runAgain(how: string, key: string, files: string[]): void {
  for (const file of files)
    describe(`${file} ${how}`, async () => {
      await import(`../integration/${file}.test.ts?${key}`);
    });
}

/** For a test that some transports leave out, or all runtimes but the host; the reason is for the reader. */
export const testExceptOver = (names: (TransportName | "runtime")[], _because: string) =>
  test.if(!names.includes(current) && (currentPlace === "host" || !names.includes("runtime")));

const isFirstRun = () => current === "unix" && currentPlace === "host";

/** For a test that takes its time for something in which neither transport nor runtime has a part. */
export const testOnce = () => test.if(isFirstRun());

/** How often a test repeats something: where it is run again, a few times show as much. */
export const times = (atFirst: number, again: number) => (isFirstRun() ? atFirst : again);

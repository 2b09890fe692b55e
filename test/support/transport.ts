// How the tests reach the daemon. The tests are the same over every transport: those in test/integration run over the
// socket, and test/transports runs them again over the others.
import { afterAll, describe, test } from "bun:test";

export type TransportName = "unix" | "websocket" | "http" | "stdin";

let current: TransportName = "unix";

export const transport = (): TransportName => current;

/** Runs test files of test/integration over another transport. */
export function runOver(name: TransportName, files: string[]): void {
  current = name;
  // The address makes it another module: each transport has its tests, its daemons and its state.
  for (const file of files)
    describe(`${file} over ${name}`, async () => {
      await import(`../integration/${file}.test.ts?${name}`);
    });
  afterAll(() => {
    current = "unix";
  });
}

/** For a test that some transports leave out; the reason is for the reader. */
export const testExceptOver = (names: TransportName[], _because: string) => test.if(!names.includes(current));

/** For a test that takes its time for something in which the transport has no part. */
export const testOnce = () => test.if(current === "unix");

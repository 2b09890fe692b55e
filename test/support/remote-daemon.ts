// What is the same for every runtime that is reached by a command.
import { expect } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Terminal } from "../../src/client/terminal.ts";
import type { Trl } from "../../src/client/trl.ts";
import type { ConnectorContext } from "../../src/remote/connectors/connector.ts";
import { Executables, targetOf } from "../../src/remote/provision/executables.ts";
import { binary } from "./program.ts";
import { sha256 } from "./stream.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./wait.ts";

/** Read once for all tests: it is large. */
const executables = new Executables({ own: binary });

/** As if it had been copied there before: most tests are not about the copying, which takes its time. */
export async function copyExecutable(home: string): Promise<void> {
  const { key, path } = await executables.find(targetOf(binary)!);
  const dir = join(home, ".cache/trl", key);
  mkdirSync(dir, { recursive: true });
  copyFileSync(path, join(dir, "trl"));
}

export function remoteContext(more: Partial<ConnectorContext> = {}): ConnectorContext & Disposable {
  const dir = tempDir();
  return {
    env: { ...process.env },
    executables,
    runDir: dir.path,
    ...more,
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

/** A link that is cut is given time to come back, also on a busy machine. */
export const patience = { patienceS: 20 };

/** The runtime, where the daemon that is asked has it elsewhere. */
export interface Place {
  runtime?: string;
}

/** Resolves when the client has noticed that its connection is gone. */
export function untilLost(trl: Trl): Promise<void> {
  return new Promise((resolve) => {
    const stop = trl.onState((state) => {
      if (state !== "reconnecting") return;
      stop();
      resolve();
    });
  });
}

/** Commands, their state, their exit. */
export async function checkCommands(trl: Trl, place: Place = {}): Promise<void> {
  await using session = await trl.session(place);
  expect(await session.run("cd /usr && export WHERE=there && echo out; echo err >&2; exit 3")).toMatchObject({
    stdout: "out\n",
    stderr: "err\n",
    exitCode: 3,
  });
  expect((await session.run("echo $PWD $WHERE; cat", { stdin: "und zurück\0\n" })).stdout).toBe(
    "/usr there\nund zurück\0\n",
  );
}

/** Bytes of a stream that takes a while, whatever happens to the link meanwhile. What is not read is kept there. */
export async function checkStream(
  trl: Trl,
  onChunk?: (bytes: number) => void,
  place: Place = {},
): Promise<void> {
  await using session = await trl.session(place);
  const hash = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  const pauseS = onChunk ? 0.03 : 0; // so that it is still running when it is cut
  const stream = session.stream(pacedOutput(pauseS), { encoding: "bytes", timeoutS: 0 });
  for await (const { data, offset } of stream) {
    expect(offset).toBe(bytes);
    bytes += data.length;
    hash.update(data);
    onChunk?.(bytes);
  }
  expect((await stream.exited).exitCode).toBe(0);
  expect(hash.digest("hex")).toBe(sha256(Bun.spawnSync(["sh", "-c", pacedOutput(0)]).stdout));
}

/** About 3 MB in a hundred pieces. */
const pacedOutput = (pauseS: number) =>
  `i=0; while [ $i -lt 100 ]; do i=$((i + 1)); seq $((i * 1000)) $((i * 1000 + 5000)); sleep ${pauseS}; done`;

/** A terminal's shell is the same before and after `cut`, and who watches it misses no byte. */
export async function checkTerminal(trl: Trl, cut?: () => unknown, place: Place = {}): Promise<void> {
  const size = { cols: 60, rows: 8 };
  await using terminal = await trl.terminal({ command: "sh", env: { PS1: "far> " }, ...size, ...place });
  const watcher = watchBytes(terminal);
  const pid = async (name: string) => {
    await terminal.write(`echo ${name}-$$-$((40 + 2))\r`);
    await terminal.wait({ regex: `${name}-\\d+-42` }, { timeoutS: 20 });
    return new RegExp(`${name}-(\\d+)-42`).exec(await terminal.screen())![1];
  };
  const before = await pid("first");
  const pauseS = cut ? 0.05 : 0;
  await terminal.write(`i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo tick-$i.; sleep ${pauseS}; done\r`);
  await until("some of it", () => watcher.text().includes("tick-5."));
  await cut?.();
  await until("all of it", () => watcher.text().includes("tick-40."));
  const ticks = [...watcher.text().matchAll(/tick-(\d+)\./g)].map(([, number]) => Number(number));
  expect(ticks).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(watcher.isExact()).toBe(true);
  expect(await pid("second")).toBe(before!);
}

/** All that it prints, from its first byte on. */
function watchBytes(terminal: Terminal) {
  const decoder = new TextDecoder();
  let text = "";
  let end = 0;
  let isExact = true;
  terminal.watch(
    {
      output(bytes, { offset, isRedraw }) {
        isExact &&= !isRedraw && offset === end;
        end = offset + bytes.length;
        text += decoder.decode(bytes, { stream: true });
      },
    },
    { from: 0, replay: "none" },
  );
  return { text: () => text, isExact: () => isExact };
}

// Copies the executable to a runtime, through the same kind of command that the link uses.
import { createReadStream } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import { zlib } from "../../util/lazy-modules.ts";
import { randomHex } from "../../util/random.ts";
import type { RemoteShellCommand } from "../connectors/remote-command.ts";
import type { Executable } from "./executables.ts";
import { copyScript } from "./scripts.ts";

export interface Copy {
  executable: Executable;
  /** With the fastest level of gzip, which halves the size; higher levels take much longer and save little. */
  isCompressed: boolean;
  start(script: string, mark: string): Promise<RemoteShellCommand>;
  newMark(): string;
}

/** Enough for 60 MB at 1 Mbit/s. */
const copyTimeoutMs = 10 * 60_000;
const chunkBytes = 256 * 1024;

/** Resolves when the file is complete and verified. Rejects with RUNTIME_UNAVAILABLE if no directory fits. */
export async function copyTo({ executable, isCompressed, start, newMark }: Copy): Promise<void> {
  const mark = newMark();
  const nonce = randomHex(6);
  const command = await start(copyScript({ mark, nonce, executable, isCompressed }), mark);
  const file = createReadStream(executable.path, { highWaterMark: chunkBytes });
  const fed = isCompressed ? command.feed(file, gzip()) : command.feed(file);
  const [word, ...reason] = (await command.answer(copyTimeoutMs)).split(" ");
  await fed;
  await command.close();
  if (word === "refused") throw new TrlError("RUNTIME_UNAVAILABLE", reason.join(" "));
  if (word !== "copied") throw new Error(`${executable.path} was damaged on the way`);
}

function gzip(): NodeJS.ReadWriteStream {
  const { constants, createGzip } = zlib();
  return createGzip({ level: constants.Z_BEST_SPEED, chunkSize: chunkBytes });
}

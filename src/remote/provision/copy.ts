// Brings the executable to the far side, over the same kind of command that the link goes over.
import { createReadStream } from "node:fs";
import { TrlError } from "../../protocol/errors.ts";
import { zlib } from "../../util/lazy-modules.ts";
import { randomHex } from "../../util/random.ts";
import type { RemoteShellCommand } from "../connectors/remote-command.ts";
import type { Executable } from "./executables.ts";
import { copyScript } from "./scripts.ts";

export interface Copy {
  executable: Executable;
  /** About half of it is left; more pains save little and take much longer. */
  isCompressed: boolean;
  start(script: string, mark: string): Promise<RemoteShellCommand>;
  newMark(): string;
}

/** Also for 60 MB over a line of 1 Mbit/s. */
const copyMaxMs = 10 * 60_000;
const chunkBytes = 256 * 1024;

/** Resolves when it is there, whole and checked. Rejects with RUNTIME_UNAVAILABLE where it cannot be there at all. */
export async function copyTo({ executable, isCompressed, start, newMark }: Copy): Promise<void> {
  const mark = newMark();
  const nonce = randomHex(6);
  const command = await start(copyScript({ mark, nonce, executable, isCompressed }), mark);
  const file = createReadStream(executable.path, { highWaterMark: chunkBytes });
  const fed = isCompressed ? command.feed(file, gzip()) : command.feed(file);
  const [word, ...reason] = (await command.answer(copyMaxMs)).split(" ");
  await fed;
  await command.close();
  if (word === "refused") throw new TrlError("RUNTIME_UNAVAILABLE", reason.join(" "));
  if (word !== "copied") throw new Error(`${executable.path} did not arrive as it is`);
}

function gzip(): NodeJS.ReadWriteStream {
  const { constants, createGzip } = zlib();
  return createGzip({ level: constants.Z_BEST_SPEED, chunkSize: chunkBytes });
}

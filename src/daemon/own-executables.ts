// This program as a file, for machines that are to run it as well.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Executables } from "../remote/provision/executables.ts";

/** From source there is no such file, but perhaps the one that was built last. */
export function ownExecutables(directory: string | undefined): Executables {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  const built = join(dirname(Bun.main), "../dist");
  const own = isCompiled ? process.execPath : join(built, "trl");
  const dirs = [...(directory === undefined ? [] : [directory]), ...(isCompiled ? [] : [built])];
  return new Executables({ own: existsSync(own) ? own : undefined, dirs });
}

// A private directory for the files of shells, in memory where the system has such a place. What a killed
// daemon left is removed.
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function makeRunDir(asked: string | undefined, env: Record<string, string>): string {
  const candidates = asked === undefined ? [env["XDG_RUNTIME_DIR"], "/dev/shm", tmpdir()] : [asked];
  for (const base of candidates) {
    if (!base?.startsWith("/")) continue;
    try {
      removeAbandoned(base);
      const dir = mkdtempSync(join(base, `trl-${process.pid}-`));
      chmodSync(dir, 0o700);
      return dir;
    } catch {
      // not there or not ours: the next one
    }
  }
  throw new Error(`no place for temporary files (tried ${candidates.filter(Boolean).join(", ")})`);
}

function removeAbandoned(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = /^trl-(\d+)-\w{6}$/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(base, name);
    if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

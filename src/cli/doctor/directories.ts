// Checks the directories for files of shells, sockets and libraries: writable, short enough, not noexec.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Check, type Finding, note, ok, problem } from "./check.ts";

const group = "directories";
/** A temporary daemon may have its socket there; the kernel limits its path to 107 bytes, 103 on macOS. */
const basePathBytesMax = 103 - "/trl-run-123456/trl.sock".length;

export function directoryChecks(): Check[] {
  const runtime = process.env["XDG_RUNTIME_DIR"];
  const inMemory = process.platform === "linux" ? ["/dev/shm"] : [];
  return [
    { id: "runtime-directory", group, run: () => checkRuntime(runtime, inMemory) },
    ...inMemory.map((path) => ({ id: "shared-memory", group, run: () => checkShared(path) })),
    { id: "temporary-directory", group, run: () => checkTemporary(tmpdir()) },
  ];
}

function checkRuntime(path: string | undefined, others: string[]): Finding {
  const instead = `${[...others, tmpdir()].join(" or ")} is used instead`;
  if (!path) return ok(`$XDG_RUNTIME_DIR is not set; ${instead}`);
  const trouble = tryDirectory(path).whyNot;
  if (!trouble)
    return ok(`$XDG_RUNTIME_DIR is ${path}`, { detail: "the files of shells are there, in memory" });
  const remedy = "it is often that of another user, after su: unset XDG_RUNTIME_DIR, or log in as this user";
  return note(`$XDG_RUNTIME_DIR, ${path}, cannot be written: ${trouble}`, { detail: instead, remedy });
}

function checkShared(path: string): Finding {
  const trouble = tryDirectory(path).whyNot;
  if (!trouble) return ok(`${path} can be written`);
  const detail = `the files of shells are in ${tmpdir()} then, which may be a disk and slower`;
  return note(`${path} cannot be written: ${trouble}`, {
    detail,
    remedy: "in a container: give it a --shm-size",
  });
}

function checkTemporary(path: string): Finding {
  const { whyNot, runsPrograms } = tryDirectory(path);
  if (whyNot) {
    const remedy = "set $TMPDIR to a directory of yours";
    const detail = "sandboxes need it, and trl run where there is no /dev/shm";
    return problem(`${path} cannot be written: ${whyNot}`, { detail, remedy });
  }
  if (Buffer.byteLength(path) > basePathBytesMax) {
    const remedy = "set $TMPDIR to a shorter one";
    return problem(`${path} is too long a path for a socket in it`, { remedy });
  }
  if (runsPrograms) return ok(`${path} can be written, and programs may be run there`);
  const detail = "the terminal driver bun-pty cannot be loaded from there; native does without";
  return note(`${path} is mounted noexec`, {
    detail,
    remedy: "set $TMPDIR to another directory if you need bun-pty",
  });
}

/** Writes and runs a file: mode bits do not show quotas, read-only mounts and full disks. */
function tryDirectory(base: string): { whyNot?: string; runsPrograms: boolean } {
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(base, "trl-doctor-"));
    const script = join(dir, "run");
    writeFileSync(script, "#!/bin/sh\nexit 0\n");
    chmodSync(script, 0o700);
    return { runsPrograms: runs(script) };
  } catch (error) {
    return { whyNot: (error as NodeJS.ErrnoException).code ?? String(error), runsPrograms: false };
  } finally {
    if (dir) rmSync(dir, { recursive: true, force: true });
  }
}

function runs(script: string): boolean {
  try {
    return Bun.spawnSync([script], { stdio: ["ignore", "ignore", "ignore"] }).exitCode === 0;
  } catch {
    return false;
  }
}

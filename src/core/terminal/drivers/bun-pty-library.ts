// Loads bun-pty. Bun unpacks an embedded shared object into $TMPDIR under a predictable name, uses an existing file of
// that name, and never removes it. So this file unpacks it into a private directory, removed as soon as it is loaded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runsOnMusl } from "../../../platform/own-program.ts";
import { TrlError } from "../../../protocol/errors.ts";
import { failureOf } from "../../../util/failure.ts";
import { lazy } from "../../../util/lazy.ts";

type Library = typeof import("bun-pty");

/** The library loads the file that this variable names. */
const pathVariable = "BUN_PTY_LIB";
const embeddedPrefix = "/$bunfs/";

/** Loaded on first use, as its shared object takes time to load. */
export const bunPtyLibrary = lazy(load);

function load(): Library {
  const embedded = sharedObject();
  if (process.env[pathVariable] || !embedded.startsWith(embeddedPrefix)) return require("bun-pty");
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(tmpdir(), "trl-bun-pty-"));
    const path = join(dir, "library");
    writeFileSync(path, readFileSync(embedded), { mode: 0o700 });
    process.env[pathVariable] = path;
    return require("bun-pty");
  } catch (error) {
    throw new TrlError("SPAWN_FAILED", `bun-pty could not be loaded: ${failureOf(error)}`);
  } finally {
    delete process.env[pathVariable];
    if (dir) rmSync(dir, { recursive: true, force: true });
  }
}

/** The ternaries are inside the names, as in the library itself, so that the bundler embeds this platform's file only. */
function sharedObject(): string {
  if (process.platform === "linux" && runsOnMusl())
    return require(
      `bun-pty/rust-pty/target/release/${process.arch === "arm64" ? "librust_pty_arm64_musl.so" : "librust_pty_musl.so"}`,
    );
  return require(
    `bun-pty/rust-pty/target/release/${process.platform === "darwin" ? (process.arch === "arm64" ? "librust_pty_arm64.dylib" : "librust_pty.dylib") : process.arch === "arm64" ? "librust_pty_arm64.so" : "librust_pty.so"}`,
  );
}

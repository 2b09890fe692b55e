// Finding the executable for a target.
import { describe, expect, test } from "bun:test";
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Executables, targetOf } from "../../../../src/remote/provision/executables.ts";
import { version } from "../../../../src/util/version.ts";
import { sha256 } from "../../../support/stream.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** The header of an executable; nothing else of it is read. */
function head(kind: "elf" | "mach-o", machine: number, loader = ""): Buffer {
  const bytes = Buffer.alloc(600);
  bytes.writeUInt32BE(kind === "elf" ? 0x7f454c46 : 0xcffaedfe, 0);
  if (kind === "elf") bytes.writeUInt16LE(machine, 18);
  else bytes.writeUInt32LE(machine, 4);
  bytes.write(loader, 400);
  return bytes;
}

const files = {
  "linux-x64": head("elf", 62, "/lib64/ld-linux-x86-64.so.2"),
  "linux-arm64-musl": head("elf", 183, "/lib/ld-musl-aarch64.so.1"),
  "darwin-arm64": head("mach-o", 0x0100000c),
};

function atHand() {
  const dir = tempDir();
  for (const [target, bytes] of Object.entries(files)) writeFileSync(join(dir.path, `trl-${target}`), bytes);
  copyFileSync(join(dir.path, "trl-linux-x64"), join(dir.path, "trl"));
  return { dir: dir.path, own: join(dir.path, "trl"), [Symbol.dispose]: dir[Symbol.dispose] };
}

test("the target of a file comes from its header", () => {
  using hand = atHand();
  for (const target of Object.keys(files)) expect(targetOf(join(hand.dir, `trl-${target}`))).toBe(target);
  writeFileSync(hand.own, "#!/bin/sh\n");
  expect(targetOf(hand.own)).toBeUndefined();
  expect(targetOf("/nowhere")).toBeUndefined();
});

describe("the executable for a target is", () => {
  test("this executable if it fits, else the file in its directory", async () => {
    using hand = atHand();
    const executables = new Executables({ own: hand.own });
    expect(executables.known).toEqual([]);
    await executables.warm();
    const sum = sha256(files["linux-x64"]);
    const own = { target: "linux-x64", path: hand.own, sha256: sum, key: `${version}-${sum.slice(0, 12)}` };
    expect(executables.known).toEqual([own]);
    const other = await executables.find("darwin-arm64");
    expect(other).toMatchObject({ path: join(hand.dir, "trl-darwin-arm64") });
    expect(executables.known).toEqual([own, other]);
  });

  test("a file in a configured directory before those in its own", async () => {
    using hand = atHand();
    using named = tempDir();
    const path = join(named.path, "trl-darwin-arm64");
    writeFileSync(path, files["darwin-arm64"]);
    const executables = new Executables({ own: hand.own, dirs: [named.path] });
    expect((await executables.find("darwin-arm64")).path).toBe(path);
  });

  test("reported as missing by its file name", async () => {
    using hand = atHand();
    const executables = new Executables({ own: hand.own });
    await expect(executables.find("linux-arm64")).rejects.toThrow(
      `trl-linux-arm64 is needed to run there (looked in ${hand.dir})`,
    );
    await expect(executables.find("FreeBSD-riscv64")).rejects.toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      message: "there is no build of trl for FreeBSD-riscv64",
    });
    // A file of that name that was built for another target does not fit.
    renameSync(join(hand.dir, "trl-darwin-arm64"), join(hand.dir, "trl-linux-arm64"));
    await expect(executables.find("linux-arm64")).rejects.toThrow("is needed");
  });

  test("found again when the file has changed", async () => {
    using hand = atHand();
    const executables = new Executables({ own: hand.own });
    const before = await executables.find("linux-x64");
    writeFileSync(hand.own, Buffer.concat([files["linux-x64"], Buffer.from("more")]));
    expect(executables.known).toEqual([]);
    expect((await executables.find("linux-x64")).key).not.toBe(before.key);
  });
});

// The sandbox parameter, resolved to real paths.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PrivateTmpDirs, removePrivateTmp } from "../../../../src/core/isolation/private-tmp.ts";
import { requireRoot, resolveSandbox } from "../../../../src/core/isolation/resolve-sandbox.ts";
import type { Sandbox } from "../../../../src/protocol/isolation.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const dir = tempDir();
const at = (...names: string[]) => join(realpathSync(dir.path), ...names);
const socket = () => at("run/trl.sock");

beforeAll(() => {
  for (const path of ["run", "work/a/b", "root/etc", "root/run"]) mkdirSync(at(path), { recursive: true });
  writeFileSync(socket(), "");
  writeFileSync(at("root/run/trl.sock"), "");
  symlinkSync(at("work"), at("link"));
  symlinkSync("/etc", at("root/out"));
});
afterAll(() => dir[Symbol.dispose]());

const tmpDirs = new PrivateTmpDirs();
const resolved = (sandbox: Sandbox, root = "/", secretPaths = [socket()]) =>
  resolveSandbox(sandbox, { root, secretPaths, tmpDirs });
const asked = (sandbox: Sandbox, root?: string, secretPaths?: string[]) =>
  resolved({ private_tmp: false, ...sandbox }, root, secretPaths);

describe("a sandbox", () => {
  test("is the strictest one by default", () => {
    const { privateTmp, ...spec } = resolved({});
    expect(spec).toEqual({ root: "/", network: false, writable: [], hidden: [], secrets: [socket()] });
    expect(existsSync(privateTmp!)).toBeTrue();
    expect(removePrivateTmp(privateTmp!)).toBeTrue();
    expect(existsSync(dirname(privateTmp!))).toBeFalse();
  });

  test("has real paths, each once", () => {
    const { writable } = asked({ writable: [at("link"), at("work"), at("work/a"), at("work/../work/a/b")] });
    expect(writable).toEqual([at("work")]);
  });

  test("has the machine's /tmp if that is writable, and not both", () => {
    expect(resolved({ writable: ["/tmp"] }, "/", []).privateTmp).toBeUndefined();
    expect(() => resolved({ writable: ["/tmp"], private_tmp: true }, "/", [])).toThrow("cannot be both");
  });
});

describe("is refused:", () => {
  const cases: Record<string, [() => unknown, string]> = {
    "to write to what holds the socket": [
      () => asked({ writable: [at("run")] }),
      "holds the daemon's own files",
    ],
    "or to anything above it": [() => asked({ writable: [dir.path] }), "holds the daemon's own files"],
    "also by a link": [
      () => asked({ writable: [at("work")] }, "/", [at("link/a")]),
      "holds the daemon's own files",
    ],
    "to hide a path that can be moved": [
      () => asked({ writable: [at("work")], hidden: [at("work/a/b")] }),
      "where it can be moved",
    ],
    "a missing path": [() => asked({ writable: [at("nothing")] }), "no such file or directory"],
    "a path that leads out of the root": [
      () => asked({ hidden: ["/out"] }, at("root")),
      "/out leads out of the root",
    ],
    "the socket, as another root shows it": [
      () => asked({ writable: ["/run"] }, at("root"), [at("root/run/trl.sock")]),
      "/run holds the daemon's own files (/run/trl.sock)",
    ],
    "a root that is no directory": [() => requireRoot(socket()), "isolation.root: no such directory"],
  };
  for (const [what, [act, message]] of Object.entries(cases)) test(what, () => expect(act).toThrow(message));
});

test("in another root, secrets have their paths inside, or are dropped", () => {
  const secrets = [at("root/run/trl.sock"), socket(), at("root/gone")];
  expect(asked({}, at("root"), secrets).secrets).toEqual(["/run/trl.sock", "/gone"]);
});

test("a path directly in a writable directory can be hidden: it cannot be moved", () => {
  expect(asked({ writable: [at("work")], hidden: [at("work/a")] }).hidden).toEqual([at("work/a")]);
});

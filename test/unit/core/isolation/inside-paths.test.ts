// Translation of paths inside an isolation to host paths.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { hostPath } from "../../../../src/core/isolation/inside-paths.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const dir = tempDir();
const root = join(dir.path, "root");
const tmp = join(dir.path, "tmp");

beforeAll(() => {
  for (const path of ["root/etc/deep", "root/var", "tmp/own", "root/tmp"])
    mkdirSync(join(dir.path, path), { recursive: true });
  symlinkSync("/etc", join(root, "absolute"));
  symlinkSync("../etc/deep", join(root, "var/relative"));
  symlinkSync("/../../../etc", join(root, "climbing"));
  symlinkSync("loop", join(root, "loop"));
  symlinkSync("/tmp/own", join(root, "to-tmp"));
  symlinkSync("/etc", join(tmp, "out"));
});
afterAll(() => dir[Symbol.dispose]());

const view = { root, mounts: [{ inside: "/tmp", host: tmp }] };

describe("a path inside", () => {
  const cases: Record<string, string> = {
    "/": root,
    "/etc": join(root, "etc"),
    "/etc/../var": join(root, "var"),
    "/../../etc": join(root, "etc"),
    "//etc/./deep/": join(root, "etc/deep"),
    "/absolute/deep": join(root, "etc/deep"),
    "/absolute/..": root,
    "/var/relative": join(root, "etc/deep"),
    "/climbing": join(root, "etc"),
    "/tmp": tmp,
    "/tmp/own/new": join(tmp, "own/new"),
    "/tmpfile": join(root, "tmpfile"),
    "/to-tmp": join(tmp, "own"),
    "/tmp/out/deep": join(root, "etc/deep"),
    "/no/such/place": join(root, "no/such/place"),
  };
  for (const [inside, host] of Object.entries(cases))
    test(inside, () => expect(hostPath(view, inside)).toBe(host));

  test("with a loop of symbolic links terminates", () => expect(hostPath(view, "/loop")).toStartWith(root));

  test("never leaves the root", () => {
    const parts = ["..", "absolute", "climbing", "var", "relative", ".", "tmp", "out", "to-tmp"];
    for (let seed = 0; seed < 2000; seed++) {
      const path = Array.from(
        { length: 6 },
        (_, at) => parts[(seed * 7 + at * (seed % 11) + at) % parts.length],
      ).join("/");
      const host = hostPath(view, `/${path}`);
      expect(
        host === root || host.startsWith(`${root}/`) || host === tmp || host.startsWith(`${tmp}/`),
      ).toBeTrue();
    }
  });
});

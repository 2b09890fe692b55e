// Which directories belong to a dead daemon: an error here would remove the files of others.

import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  abandonedDirs,
  makeOwnDir,
  removeAbandonedDirs,
  removeOwnDir,
} from "../../../src/platform/abandoned-dirs.ts";
import { ownPidScope } from "../../../src/platform/pid-namespace.ts";
import { startTimeOf } from "../../../src/platform/start-time.ts";
import { tempDir } from "../../support/temp-dir.ts";

/** Above every pid that there can be. */
const deadPid = 99_999_999;
const dead = { pid: deadPid, startTime: "1", world: ownPidScope() };
const alive = { pid: process.pid, startTime: startTimeOf(process.pid), world: ownPidScope() };

const nameOf = (pid: number, end: string) => `trl-${pid}-${end}`;

function marked(path: string, mark: object | string): void {
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, ".trl"), typeof mark === "string" ? mark : JSON.stringify(mark));
}

test("directories of ended processes are found: by pid, and by pid and start time", () => {
  using base = tempDir();
  const paths = [nameOf(deadPid, "aaaaaa"), nameOf(process.pid, "bbbbbb")].map((name) =>
    join(base.path, name),
  );
  marked(paths[0]!, dead);
  marked(paths[1]!, { ...alive, startTime: "1" }); // the pid is used again
  expect(abandonedDirs(base.path).sort((a, b) => b.pid - a.pid)).toEqual([
    { path: paths[0]!, pid: deadPid },
    { path: paths[1]!, pid: process.pid },
  ]);
  removeAbandonedDirs(base.path);
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
});

test("all others stay: of running processes, of other pid scopes, and directories without a valid mark", () => {
  using base = tempDir();
  const at = (end: string, pid = deadPid) => join(base.path, nameOf(pid, end));
  marked(at("living", process.pid), alive);
  marked(at("world1"), { ...dead, world: `${dead.world} another` });
  marked(at("half01"), JSON.stringify(dead).slice(0, -5));
  marked(at("less01"), { ...dead, startTime: undefined });
  marked(at("less02"), { ...dead, world: undefined });
  marked(at("copied", deadPid - 1), dead);
  marked(at("opened"), dead);
  chmodSync(at("opened"), 0o755);
  mkdirSync(at("nomark"), { mode: 0o700 });
  mkdirSync(at("linked"), { mode: 0o700 });
  marked(join(base.path, "elsewhere"), dead);
  symlinkSync(join(base.path, "elsewhere/.trl"), join(at("linked"), ".trl"));
  symlinkSync(join(base.path, "elsewhere"), at("alink0"));
  writeFileSync(at("afile0"), JSON.stringify(dead));
  expect(abandonedDirs(base.path)).toEqual([]);
  removeOwnDir(join(base.path, "elsewhere"));
  removeOwnDir(at("nomark"));
  expect(existsSync(at("nomark")) && existsSync(join(base.path, "elsewhere"))).toBeTrue();
});

test("a new directory has the mark of its process, and can be removed by its path", () => {
  using base = tempDir();
  const path = makeOwnDir(base.path);
  expect(JSON.parse(readFileSync(join(path, ".trl"), "utf8"))).toEqual(alive);
  expect(abandonedDirs(base.path)).toEqual([]);
  removeOwnDir(path);
  expect(existsSync(path)).toBeFalse();
});

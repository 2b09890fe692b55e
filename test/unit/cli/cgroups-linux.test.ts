// What the doctor makes of the kernel's texts; the places are directories of our own, in which groups can be made.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { examine } from "../../../src/cli/doctor/cgroups-linux.ts";
import { tempDir } from "../../support/temp-dir.ts";

const second = (place: string, root = "/") =>
  `29 23 0:26 ${root} ${place} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n`;
const first = (place: string, controller: string) =>
  `30 23 0:27 / ${place} rw,nosuid shared:5 - cgroup cgroup rw,${controller}\n`;

test("version 2, delegated or not", () => {
  using dir = tempDir();
  const own = join(dir.path, "user.slice/app");
  mkdirSync(own, { recursive: true });
  const look = () => examine(second(dir.path), "0::/user.slice/app\n");
  writeFileSync(join(own, "cgroup.controllers"), "cpu memory pids\n");
  expect(look()).toMatchObject({ status: "ok", summary: expect.stringContaining(`delegated to ${own}`) });
  expect(readdirSync(own)).toEqual(["cgroup.controllers"]);
  writeFileSync(join(own, "cgroup.controllers"), "memory pids\n");
  expect(look()).toMatchObject({ status: "note", summary: expect.stringContaining("cpu not delegated") });
});

test("version 2 where only a part of the tree is to be seen, as in a container", () => {
  using dir = tempDir();
  mkdirSync(join(dir.path, "below"));
  writeFileSync(join(dir.path, "below/cgroup.controllers"), "cpu memory pids\n");
  const found = examine(second(dir.path, "/docker/abc"), "0::/docker/abc/below\n");
  expect(found).toMatchObject({ status: "ok", summary: expect.stringContaining(join(dir.path, "below")) });
});

test("version 1: a group is needed with each controller", () => {
  using dir = tempDir();
  for (const name of ["memory", "cpu"]) mkdirSync(join(dir.path, name));
  const controllers = ["memory", "cpu", "pids"];
  const mountinfo = controllers.map((name) => first(join(dir.path, name), name)).join("");
  const look = () =>
    examine(mountinfo + second(join(dir.path, "unified")), "3:pids:/\n2:cpu:/\n1:memory:/\n0::/\n");
  expect(look()).toMatchObject({
    status: "note",
    summary: expect.stringContaining("no group can be made for pids"),
  });
  mkdirSync(join(dir.path, "pids"));
  expect(look()).toMatchObject({ status: "ok", summary: expect.stringContaining("version 1") });
});

test("none at all", () => {
  expect(examine("22 1 0:20 / / rw - ext4 /dev/sda rw\n", "")).toMatchObject({ status: "note" });
});

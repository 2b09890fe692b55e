// Control groups of version 2. The test machines have their controllers in version 1, so limits are tested on a fake
// tree of files. Freezing, killing and removing need no controllers and are tested on the real hierarchy, if any.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isShortcoming } from "../../../../src/core/isolation/cgroup.ts";
import { CgroupsV2 } from "../../../../src/core/isolation/cgroup-v2-linux.ts";
import { chooseCgroups } from "../../../../src/core/isolation/detect-cgroups-linux.ts";
import { findCgroupPaths } from "../../../../src/platform/linux/cgroup-paths.ts";
import { isAlive } from "../../../support/processes.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { until } from "../../../support/wait.ts";

let dir: ReturnType<typeof tempDir>;
let group: string;
const at = (...names: string[]) => join(group, ...names);
const read = (...names: string[]) => readFileSync(at(...names), "utf8").trim();
const write = (text: string, ...names: string[]) => writeFileSync(at(...names), text);

/** As a kernel shows a delegated group. */
beforeEach(() => {
  dir = tempDir();
  group = join(dir.path, "scope");
  mkdirSync(group);
  write("cpuset cpu io memory pids\n", "cgroup.controllers");
  write("", "cgroup.subtree_control");
  write("", "cgroup.procs");
  write("domain\n", "cgroup.type");
});
afterEach(() => dir[Symbol.dispose]());

const name = "trl-77-88";
const places = () => ({ v1: {}, v2: { path: group, isRoot: false } });

describe("in a delegated group", () => {
  test("the daemon moves to a leaf, and both levels enable controllers", () => {
    write("", "cgroup.procs");
    const cgroups = new CgroupsV2(group, name, false);
    expect([...cgroups.controllers].sort()).toEqual(["cpu", "memory", "pids"]);
    const made = cgroups.create({});
    expect(existsSync(at(`${name}.daemon`))).toBeTrue();
    const handedOn = read("cgroup.subtree_control").split(" ").sort();
    expect(handedOn).toEqual(["+cpu", "+memory", "+pids"]);
    expect(read(name, "cgroup.subtree_control").split(" ").sort()).toEqual(handedOn);
    expect(made.entrances).toEqual([at(name, "1", "cgroup.procs")]);
    expect(cgroups.directories).toEqual([at(name), at(`${name}.daemon`)]);
  });

  test("all its processes are moved to the leaf first", () => {
    write("4711\n", "cgroup.procs");
    mkdirSync(at(`${name}.daemon`));
    new CgroupsV2(group, name, false).create({});
    expect(read(`${name}.daemon`, "cgroup.procs")).toBe("4711");
  });

  test("no process is moved if controllers are enabled already, nor from the root of the hierarchy", () => {
    write("4711\n", "cgroup.procs");
    write("cpu memory pids\n", "cgroup.subtree_control");
    new CgroupsV2(group, name, false).create({});
    expect(existsSync(at(`${name}.daemon`))).toBeFalse();
    write("", "cgroup.subtree_control");
    new CgroupsV2(group, "trl-77-99", true).create({});
    expect(existsSync(at("trl-77-99.daemon"))).toBeFalse();
    expect(read("cgroup.subtree_control")).toContain("+memory");
  });

  test("limits are written as the kernel wants them", () => {
    const limits = { memoryBytes: 1_000_000, cpuPercent: 150, pids: 7 };
    new CgroupsV2(group, name, false).create(limits);
    expect(read(name, "1", "memory.max")).toBe("1000000");
    expect(read(name, "1", "memory.swap.max")).toBe("0");
    expect(read(name, "1", "cpu.max")).toBe("150000 100000");
    expect(read(name, "1", "pids.max")).toBe("7");
  });

  test("counters are read from its event files", () => {
    const made = new CgroupsV2(group, name, false).create({});
    write("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\n", name, "1", "memory.events");
    write("max 5\n", name, "1", "pids.events");
    write("usage_usec 2500\nuser_usec 1\nthrottled_usec 4000\n", name, "1", "cpu.stat");
    write("123456\n", name, "1", "memory.peak");
    expect(made.counters()).toEqual({ cpuMs: 2.5, throttledMs: 4, oomKills: 3, forksRefused: 5 });
    expect(made.peakBytes()).toBe(123456);
    expect(made.resetPeak()).toBeFalse();
  });

  test("missing files count as zero", () => {
    const made = new CgroupsV2(group, name, false).create({});
    expect(made.counters()).toEqual({
      cpuMs: undefined,
      throttledMs: undefined,
      oomKills: 0,
      forksRefused: 0,
    });
    expect(made.peakBytes()).toBeUndefined();
    expect(made.members()).toEqual([]);
  });

  test("the leaf of a daemon that has ended is removed, and no other", () => {
    mkdirSync(at("trl-1-2.daemon"));
    mkdirSync(at("trl-3-4.daemon", "busy"), { recursive: true });
    mkdirSync(at("trl-5-6"));
    new CgroupsV2(group, name, false).create({});
    expect(
      [at("trl-1-2.daemon"), at("trl-3-4.daemon"), at("trl-5-6")].map((path) => existsSync(path)),
    ).toEqual([false, true, true]);
  });
});

describe("chooses", () => {
  test("version 2 if it has controllers", () => {
    const chosen = chooseCgroups(places(), name, () => true);
    expect(isShortcoming(chosen) ? chosen : chosen.version).toBe("v2");
  });

  test("nothing if other processes share the group", () => {
    write("4711\n4712\n", "cgroup.procs");
    const chosen = chooseCgroups(places(), name, (pid) => pid === 4711);
    expect(chosen).toMatchObject({
      reason: expect.stringContaining("with 1 other processes"),
      remedy: expect.stringContaining("systemd-run --user --scope"),
    });
  });

  test("nothing if no controllers are enabled", () => {
    write("\n", "cgroup.controllers");
    const chosen = chooseCgroups(places(), name, () => true);
    expect(chosen).toMatchObject({ reason: expect.stringContaining("no controllers are enabled") });
  });

  test("version 1 if the controllers are there", () => {
    write("hugetlb\n", "cgroup.controllers");
    const v1 = { memory: group, pids: group };
    const chosen = chooseCgroups({ ...places(), v1 }, name, () => true);
    if (isShortcoming(chosen)) throw new Error(chosen.reason);
    expect([chosen.version, ...chosen.controllers]).toEqual(["v1", "memory", "pids"]);
  });

  test("the writable hierarchies of version 1", () => {
    const v1 = { memory: "/nonexistent", pids: group, freezer: "/nonexistent" };
    const chosen = chooseCgroups({ v1, v2: undefined }, name, () => true);
    if (isShortcoming(chosen)) throw new Error(chosen.reason);
    expect([...chosen.controllers]).toEqual(["pids"]);
    expect(chosen.directories).toEqual([at(name)]);
  });

  test("nothing if a hierarchy is missing or not writable", () => {
    expect(chooseCgroups({ v1: {}, v2: undefined }, name, () => true)).toMatchObject({
      reason: "no control groups are mounted",
    });
    expect(chooseCgroups({ v1: { memory: "/nonexistent" }, v2: undefined }, name, () => true)).toMatchObject({
      reason: expect.stringContaining("may not be written to (/nonexistent)"),
    });
  });
});

describe("the daemon's own group", () => {
  const v1Mounts = [
    "30 25 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
    "31 25 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct",
    "32 25 0:29 / /sys/fs/cgroup/odd\\040name rw - cgroup cgroup rw,pids",
    "33 25 0:30 / /proc rw - proc proc rw",
  ].join("\n");

  test("is found in each hierarchy", () => {
    const own = "5:pids:/\n4:memory:/a/b\n2:cpu,cpuacct:/c\n0::/d\n";
    expect(findCgroupPaths(v1Mounts, own)).toEqual({
      v1: {
        memory: "/sys/fs/cgroup/memory/a/b",
        cpu: "/sys/fs/cgroup/cpu,cpuacct/c",
        cpuacct: "/sys/fs/cgroup/cpu,cpuacct/c",
        pids: "/sys/fs/cgroup/odd name",
      },
      v2: undefined,
    });
  });

  test("is found if a mount shows a subtree of the hierarchy", () => {
    const mounts = "30 25 0:27 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
    expect(findCgroupPaths(mounts, "4:memory:/docker/abc/x").v1).toEqual({
      memory: "/sys/fs/cgroup/memory/x",
    });
    expect(findCgroupPaths(mounts, "4:memory:/docker/abcdef").v1).toEqual({});
    expect(findCgroupPaths(mounts, "4:memory:/docker/abc/../../etc").v1).toEqual({});
  });

  test("is found in version 2, and distinguished from its root", () => {
    const mounts = `30 25 0:27 / ${dir.path} rw - cgroup2 cgroup2 rw`;
    expect(findCgroupPaths(mounts, "0::/scope").v2).toEqual({ path: group, isRoot: false });
    expect(findCgroupPaths(mounts, "0::/").v2).toEqual({ path: dir.path, isRoot: true });
  });

  test("is not found without readable files", () => {
    expect(findCgroupPaths("", "")).toEqual({ v1: {}, v2: undefined });
    expect(findCgroupPaths("nonsense\n\n - \n", "x\n::\n")).toEqual({ v1: {}, v2: undefined });
  });
});

describe("on the real hierarchy", () => {
  const real = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) =>
    existsSync(`${path}/cgroup.subtree_control`),
  );

  test("a group is entered, frozen, emptied and removed", async () => {
    const parent = real && join(real, `trl-test-${process.pid}`);
    const canWrite = parent !== undefined && tryMake(parent);
    if (!canWrite) {
      // The same refusal that the daemon would give.
      expect(chooseCgroups({ v1: {}, v2: undefined }, name, () => true)).toHaveProperty("remedy");
      return;
    }
    try {
      const made = new CgroupsV2(parent, name, true).create({});
      const script = `echo 0 >${made.entrances[0]} && exec sh -c 'trap "" TERM HUP; setsid sleep 1000 & sleep 1000'`;
      const child = Bun.spawn(["sh", "-c", script]);
      await until("two in the group", () => made.members().length >= 2);
      const members = made.members();
      expect(members).toContain(child.pid);
      const events = () => readFileSync(join(made.entrances[0]!, "../cgroup.events"), "utf8");
      let whileFrozen = "";
      await made.whileFrozen(() => {
        whileFrozen = events();
      });
      expect(whileFrozen).toContain("frozen 1");
      await until("thawed", () => events().includes("frozen 0"));
      expect(await made.destroy()).toBeTrue();
      expect(members.filter(isAlive)).toEqual([]);
      expect(existsSync(join(made.entrances[0]!, ".."))).toBeFalse();
      await child.exited;
    } finally {
      Bun.spawnSync(["rmdir", join(parent, name), parent]);
    }
  });

  function tryMake(path: string): boolean {
    try {
      mkdirSync(path);
      return true;
    } catch {
      return false;
    }
  }
});

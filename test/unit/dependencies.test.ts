// What is built on is known to the byte, runs nothing when it is installed, and is asked after.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lockedPackages, readLock } from "../../scripts/locked-packages.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
const packages = lockedPackages();

test("every dependency is named with one exact version, and the lock has it", () => {
  const named = { ...manifest["dependencies"], ...manifest["devDependencies"] };
  for (const [name, version] of Object.entries(named)) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(packages).toContainEqual(expect.objectContaining({ name, version }));
  }
});

test("every locked package comes from the registry and has a checksum", () => {
  expect(packages.length).toBeGreaterThan(20);
  for (const { name, source, integrity } of packages) {
    expect([name, source]).toEqual([name, ""]);
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  }
});

test("what is installed is what is locked", () => {
  const installed = packages.filter(({ name }) => existsSync(join(root, "node_modules", name)));
  expect(installed.length).toBeGreaterThan(10);
  const versions = new Map<string, string[]>();
  for (const { name, version } of packages) versions.set(name, [...(versions.get(name) ?? []), version]);
  for (const { name } of installed) {
    const { version } = JSON.parse(read(`node_modules/${name}/package.json`)) as { version: string };
    expect(versions.get(name)).toContain(version);
  }
});

test("nothing but Bun itself may run a script when it is installed, and the lock decides what is", () => {
  expect(manifest["trustedDependencies"] as unknown).toEqual(["bun"]);
  expect(readLock().trustedDependencies).toEqual(["bun"]);
  expect(read("scripts/ensure-installed.mjs")).toContain('"--frozen-lockfile"');
  for (const hook of ["preinstall", "install", "postinstall", "prepare"])
    expect(manifest["scripts"]).not.toHaveProperty(hook);
});

describe("the audit", () => {
  /** With a registry that answers so. */
  async function audit(answer: (asked: Record<string, string[]>) => Response | Promise<Response>) {
    using registry = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => answer((await request.json()) as Record<string, string[]>),
    });
    return await run(registry.url.href);
  }

  async function run(registry: string) {
    const child = Bun.spawn([process.execPath, join(root, "scripts/audit.ts"), registry], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return { out: await child.stdout.text(), code: await child.exited };
  }

  test("asks about every locked package, and passes where nothing is known", async () => {
    let asked: Record<string, string[]> = {};
    const { code, out } = await audit((versions) => {
      asked = versions;
      return Response.json({});
    });
    expect(code).toBe(0);
    expect(out).toBe(`${packages.length} locked packages, 0 known vulnerabilities\n`);
    for (const { name, version } of packages) expect(asked[name]).toContain(version);
  });

  test("fails on a known vulnerability, and names it", async () => {
    const advisory = {
      title: "DoS",
      severity: "high",
      url: "https://a.example/1",
      vulnerable_versions: "<99",
    };
    const { code, out } = await audit(() => Response.json({ ws: [advisory] }));
    expect(code).toBe(1);
    const { version } = packages.find(({ name }) => name === "ws")!;
    expect(out).toContain(`ws ${version} (<99): high: DoS, https://a.example/1\n`);
  });

  test("passes where the registry cannot be asked, and says that nothing was checked", async () => {
    const mirror = await audit(() => new Response("no such method", { status: 405 }));
    const nobody = await run("http://127.0.0.1:1");
    const nonsense = await audit(() => new Response("<html>"));
    for (const { code, out } of [mirror, nobody, nonsense]) {
      expect(code).toBe(0);
      expect(out).toStartWith("NOT AUDITED: ");
    }
  });

  test("is part of what runs for every change", () => {
    expect(read(".ci/run")).toMatch(/^npm run --silent audit \|\| status=1$/m);
  });
});

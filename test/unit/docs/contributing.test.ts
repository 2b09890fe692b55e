// What contributors are told: scripts, files and links exist, the changelog has this version, and CI runs .ci/run
// everywhere.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../../package.json";
import { requirements } from "../../support/requirements.ts";

const root = join(import.meta.dir, "../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const pages = [...new Bun.Glob("*.md").scanSync(root), ".github/PULL_REQUEST_TEMPLATE.md"].sort();

test("the pages that contributors expect are there", () => {
  expect(pages).toEqual(
    expect.arrayContaining(["AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]),
  );
});

// The README has a test of its own, which runs its examples.
describe.each(pages.filter((page) => page !== "README.md"))("%s", (page) => {
  test("names scripts that package.json has", () => {
    const named = [...read(page).matchAll(/\b(?:npm|bun) run (?:--silent )?([a-z][\w:]*)/g)].map(
      ([, name]) => name!,
    );
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  test("links to files that exist", () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path!);
    expect(links.filter((path) => !existsSync(join(root, dirname(page), path)))).toEqual([]);
  });
});

test("the tree in AGENTS.md has every directory of src, and no other", () => {
  const named = [...read("AGENTS.md").matchAll(/\bsrc\/(\w+)\//g)].map(([, name]) => name!);
  const there = [...new Bun.Glob("src/*/**/*.ts").scanSync(root)].map((file) => file.split("/")[1]!);
  expect([...new Set(named)].sort()).toEqual([...new Set(there)].sort());
});

test("AGENTS.md fits on one screen", () => expect(read("AGENTS.md").split("\n").length).toBeLessThan(60));

test("the requirements that CONTRIBUTING.md shows are known", () => {
  const shown = [...read("CONTRIBUTING.md").matchAll(/\bneeds\(([^)]*)\)/g)];
  const names = shown.flatMap(([, list]) => [...list!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!));
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !(name in requirements))).toEqual([]);
});

test("the changelog has this version, newest first, in the sections of Keep a Changelog", () => {
  const text = read("CHANGELOG.md");
  const versions = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title!);
  expect(versions[0]).toBe("Unreleased");
  const released = versions.slice(1).map((title) => /^(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$/.exec(title)?.[1]);
  expect(released).toContain(manifest.version);
  expect(released).toEqual(released.toSorted((a, b) => Bun.semver.order(b!, a!)));
  const sections = [...text.matchAll(/^### (.+)$/gm)].map(([, title]) => title!);
  const allowed = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
  expect(sections.filter((title) => !allowed.includes(title))).toEqual([]);
});

test("the workflow runs .ci/run on Linux x64, Linux arm64 and macOS", () => {
  // biome-ignore lint/suspicious/noExplicitAny: a workflow is whatever GitHub takes
  const workflow = Bun.YAML.parse(read(".github/workflows/ci.yml")) as any;
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  const systems = Object.values(workflow.jobs).flatMap((job: any) => {
    const isCalled = job.steps.some(({ run = "" }: { run?: string }) => run.includes(".ci/run"));
    return isCalled ? job.strategy.matrix.include.map(({ os }: { os: string }) => os) : [];
  });
  for (const system of [/^ubuntu-[\d.]+$/, /^ubuntu-[\d.]+-arm$/, /^macos-/])
    expect(systems.some((name: string) => system.test(name))).toBe(true);
  expect(statSync(join(root, ".ci/run")).mode & 0o111).not.toBe(0);
});

test("issue forms are forms", () => {
  for (const file of new Bun.Glob(".github/ISSUE_TEMPLATE/*.yml").scanSync({ cwd: root, dot: true })) {
    // biome-ignore lint/suspicious/noExplicitAny: likewise
    const form = Bun.YAML.parse(read(file)) as any;
    if (file.endsWith("config.yml")) continue;
    expect(Object.keys(form)).toEqual(expect.arrayContaining(["name", "description", "body"]));
    for (const { type, attributes } of form.body)
      expect([file, type, typeof attributes.label]).toEqual([file, "textarea", "string"]);
  }
});

// The README and the pages under docs/ and examples/ tell the truth: what they show is run, and prints what they say.
// The exchanges of the protocol reference, which no single daemon has seen, are held against the protocol's tables.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { type FlagTable, flags } from "../../src/daemon/flags.ts";
import { errorCodes } from "../../src/protocol/errors.ts";
import { complaintsAbout } from "../support/fragments.ts";
import { type Example, examplesOf, fencesOf } from "../support/markdown.ts";
import { needs } from "../support/needs.ts";
import { type Hands, Page } from "../support/page.ts";
import { problemOf, type RequirementName } from "../support/requirements.ts";
import { faultsOf } from "../support/wire-example.ts";

// Each waits for what it wants to see; this is for a machine that is busy.
setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const pages = ["README.md", ...new Bun.Glob("{docs,examples}/**/*.md").scanSync(root)].sort();

const examplesIn = (file: string) => examplesOf(readFileSync(join(root, file), "utf8"));

type Runnable = Exclude<Example, { kind: "fragment" }>;
const runnableIn = (file: string) =>
  examplesIn(file).filter((example): example is Runnable => example.kind !== "fragment");

/** Commands that sit their user down at a terminal, and what he does there. */
const hands: Record<string, Hands> = {
  "trl new work": async (user) => {
    await user.sees(/^(?!outer>).*[$#%]$/m);
    user.press("C-\\");
  },
  "trl attach work": async (user) => {
    await user.sees(/^(?!outer>).*[$#%]$/m);
    user.press("C-\\");
  },
};

const handsFor = (command: string): Hands | undefined => hands[command.replace(/ +# .*$/, "")];

/** Blocks that are not run, by how they begin. */
const notRun: Record<string, string> = {
  "npm start ": "installs from the network and stays in the foreground; the scripts are looked at below",
  "npx bun run ": "builds what this test runs; the scripts are looked at below",
  "npx bun test ": "runs tests, which run by themselves",
  "src/main.ts ": "a list of files",
  "                main": "the figure of the layers",
  "ssh -L ": "another machine",
  "openclaw ": "OpenClaw's own commands; openclaw-example.test.ts plays its part",
  "trl serve --http 127.0.0.1:9100 --allow-origin":
    "stays in the foreground; its flags are tested by http.test.ts",
  "trl service install ": "a service of the user; cli-service.test.ts plays the part of its manager",
  "[Service]": "a part of a unit of systemd",
  "scrape_configs:": "a configuration of Prometheus",
  "map $http_upgrade": "a configuration of nginx",
  "desk.example.org {": "a configuration of Caddy",
  "dist/trl serve --http": "stays in the foreground; examples/browser.test.ts does the same",
  "(cd ../.. && npx": "installs from the network; examples/electrobun.test.ts does the same",
  "$ trl runtimes add build ": "another machine; ssh.test.ts does the same",
  "$ docker run ": "needs an engine and an image; docker.test.ts does the same",
  "$ docker kill ": "the same",
  "$ trl runtimes add pod ": "needs a cluster; kubernetes.test.ts plays the part of kubectl",
  "$ trl runtimes add lab ": "another machine; dial-stdio.test.ts does the same",
  "[runtimes.scratch]": "a part of a configuration; docker.test.ts has such a runtime",
  "[runtimes.pod]": "a part of a configuration; kubernetes.test.ts has such a runtime",
  '{"ticket":': "the form of an answer",
  '{"summary":': "excerpts of an answer",
  '{"cgroup":': "an excerpt of an answer, from one kind of machine",
  "systemd-run ": "needs systemd",
  "trl upgrade ": "three ways to the same; upgrade.test.ts and upgrade-failures.test.ts go them",
  "PAGER=cat ": "a list of variables; isolation-env.test.ts knows them",
  "\\n[trl: N": "the form of a marker",
  "chmod +x trl-darwin":
    "installs into the user's home; the files are tested by macos-executables.full.test.ts",
  "sha256sum --ignore-missing": "needs all executables, which take a minute to build",
  "xattr ": "macOS",
  "codesign ": "macOS",
};

/** What its commands need of the machine beyond a shell. */
const programs = ["curl", "nc", "openssl", "python3", "socat", "zsh"] as const;

function requirementsOf(example: Runnable): RequirementName[] {
  if (example.kind !== "program" && example.kind !== "console") return [];
  const lines = example.kind === "program" ? [example.code] : example.steps.map(({ command }) => command);
  const isPython = example.kind === "program" && example.language === "python";
  const named = programs.filter((name) => lines.some((line) => new RegExp(`\\b${name}\\b`).test(line)));
  return [
    ...named,
    ...(isPython ? (["python3"] as const) : []),
    ...(lines.some(handsFor) ? (["tmux"] as const) : []),
  ];
}

/** Examples that follow each other with one daemon. What one of them needs, commands after it may need as well. */
type Chapter = { example: Runnable; required: RequirementName[] }[];

function chaptersOf(file: string): Chapter[] {
  const chapters: Chapter[] = [];
  let sofar: RequirementName[] = [];
  for (const example of runnableIn(file)) {
    if (example.startsAnew || chapters.length === 0) {
      chapters.push([]);
      sofar = [];
    }
    sofar = [...new Set([...sofar, ...requirementsOf(example)])];
    const isRun = example.kind === "program" || example.kind === "console";
    chapters.at(-1)!.push({ example, required: isRun ? sofar : [] });
  }
  return chapters;
}

/** A chapter is read from top to bottom; what came of each example is told as soon as it is known. */
class Reading {
  readonly outcomes = new Map<Runnable, Promise<void>>();
  readonly end: Promise<void>;

  constructor(chapter: Chapter, after: Promise<void>) {
    let page: Page | undefined;
    let before = after;
    for (const { example } of chapter.filter(({ required }) => !required.some(problemOf))) {
      const outcome = before.then(async () => {
        page ??= await Page.open();
        await check(page, example);
      });
      this.outcomes.set(example, outcome);
      before = outcome.catch(() => {}); // it is for the test to fail; the reader goes on
    }
    this.end = before.then(() => page?.[Symbol.asyncDispose]());
  }
}

// Pages side by side: most of what they show is waiting.
const readings = new Map<Chapter, Reading>();
const chapters = new Map(pages.map((file) => [file, chaptersOf(file)]));
beforeAll(() => {
  for (const all of chapters.values()) {
    let before = Promise.resolve();
    for (const chapter of all) {
      const reading = new Reading(chapter, before);
      readings.set(chapter, reading);
      before = reading.end;
    }
  }
});
afterAll(async () => void (await Promise.all([...readings.values()].map(({ end }) => end))));

for (const [file, all] of chapters) {
  describe(file, () => {
    for (const chapter of all)
      for (const { example, required } of chapter)
        needs(...required).test(
          `line ${example.line}: ${example.kind}`,
          async () => await readings.get(chapter)!.outcomes.get(example),
        );
  });
}

async function check(page: Page, example: Runnable): Promise<void> {
  if (example.kind === "program") {
    for (const { told, seen } of await page.runProgram(example)) expect(seen).toBe(told);
  } else if (example.kind === "console") {
    for (const step of example.steps) {
      const atTerminal = handsFor(step.command);
      const { told, seen } = atTerminal ? await page.typeAtTerminal(step, atTerminal) : await page.type(step);
      expect(seen, `$ ${step.command}`).toBe(told);
    }
  } else if (example.kind === "json") JSON.parse(example.text);
  else if (example.kind === "wire") expect(faultsOf(example.text)).toEqual([]);
  else expect(Object.keys(notRun).filter((start) => example.text.startsWith(start))).toHaveLength(1);
}

test("fragments of programs are what the client library takes and gives", () => {
  // What the guide for frontends shows are pieces of the examples: frontends.test.ts holds them together.
  const others = pages.filter((page) => page !== "docs/frontends.md");
  const fragments = others.flatMap((page) =>
    examplesIn(page).flatMap((it) => (it.kind === "fragment" ? [{ page, ...it }] : [])),
  );
  expect(fragments.length).toBeGreaterThan(5);
  expect(complaintsAbout(fragments)).toEqual([]);
});

test("what is not run, or is typed at a terminal, is still in a page", () => {
  const examples = pages.flatMap(examplesIn);
  const texts = examples.flatMap((example) => (example.kind === "text" ? [example.text] : []));
  expect(Object.keys(notRun).filter((start) => !texts.some((text) => text.startsWith(start)))).toEqual([]);
  const commands = examples.flatMap((example) => (example.kind === "console" ? example.steps : []));
  const typed = Object.keys(hands).filter(
    (line) => !commands.some(({ command }) => command.startsWith(line)),
  );
  expect(typed).toEqual([]);
});

test("scripts that a page tells to run are there", () => {
  const blocks = pages.flatMap((file) => fencesOf(readFileSync(join(root, file), "utf8")));
  const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const named = commands.flatMap((text) => [...text.matchAll(/^npm (\w+)|\bbun run ([\w:]+)/gm)]);
  expect(named.length).toBeGreaterThan(4);
  expect(named.map(([, npm, bun]) => npm ?? bun!).filter((name) => !(name in manifest.scripts))).toEqual([]);
});

test("every table of error codes has all of them", () => {
  for (const file of ["README.md", "docs/protocol.md", "docs/agents.md"]) {
    const rows = readFileSync(join(root, file), "utf8").matchAll(/^\| `([A-Z_]+)` /gm);
    const codes = [...rows].map(([, code]) => code!).filter((code) => code in errorCodes);
    expect({ file, codes: codes.sort() }).toEqual({ file, codes: Object.keys(errorCodes).sort() });
  }
});

test("every flag that a page gives to the daemon is one", () => {
  const known = Object.entries(flags as FlagTable).flatMap(([name, { alias }]) => [name, alias]);
  const given = pages.flatMap((file) => {
    const commands = readFileSync(join(root, file), "utf8").matchAll(/\btrl serve( [^\n`&|]*)/g);
    return [...commands].flatMap(([, words]) =>
      [...words!.matchAll(/ --([\w-]+)/g)].map(([, flag]) => flag!),
    );
  });
  expect(given.length).toBeGreaterThan(5);
  expect(given.filter((flag) => flag !== "help" && !known.includes(flag))).toEqual([]);
});

test("links between the pages lead somewhere", () => {
  const dead = pages.flatMap((file) => {
    const links = readFileSync(join(root, file), "utf8").matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g);
    return [...links]
      .filter(([, path, anchor]) => {
        const target = path ? join(root, dirname(file), path) : join(root, file);
        return !existsSync(target) || (anchor && !anchorsOf(readFileSync(target, "utf8")).includes(anchor));
      })
      .map(([link]) => `${file}: ${link}`);
  });
  expect(dead).toEqual([]);
});

/** Headings as GitHub names them in addresses. */
const anchorsOf = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

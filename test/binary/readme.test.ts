// The README and the pages under docs/ and examples/ tell the truth: what they show is run, and prints what they say.
// The exchanges of the protocol reference, which no single daemon has seen, are held against the protocol's tables.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { type FlagTable, flags } from "../../src/daemon/flags.ts";
import { errorCodes } from "../../src/protocol/errors.ts";
import { type Example, examplesOf, fencesOf } from "../support/markdown.ts";
import { type Hands, Page } from "../support/page.ts";
import { faultsOf } from "../support/wire-example.ts";

// Each waits for what it wants to see; this is for a machine that is busy.
setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const pages = ["README.md", ...new Bun.Glob("{docs,examples}/**/*.md").scanSync(root)].sort();

/** Commands that sit their user down at a terminal, and what he does there. */
const hands: Record<string, Hands> = {
  "trl new work": async (user) => {
    await user.sees(/^(?!outer>).*[$#]$/m);
    user.press("C-\\");
  },
  "trl attach work": async (user) => {
    await user.sees(/^(?!outer>).*[$#]$/m);
    user.enter("exit 5");
  },
};

/** Blocks that are not run, by how they begin. */
const notRun: Record<string, string> = {
  "npm start ": "installs from the network and stays in the foreground; the scripts are looked at below",
  "npx bun run ": "builds what this test runs; the scripts are looked at below",
  "src/main.ts ": "a list of files",
  "curl http://127.0.0.1:9100 -H":
    "reads the token of the default socket; the other examples show the same call",
  "ssh -L ": "another machine",
  "openclaw ": "OpenClaw's own commands; openclaw-example.test.ts plays its part",
  "trl serve --http 127.0.0.1:9100 --allow-origin":
    "stays in the foreground; its flags are tested by http.test.ts",
  "[Unit]": "a unit of systemd; its flags are looked at below",
  "systemctl ": "a service of the user",
  "<?xml": "a job of launchd",
  "launchctl ": "a job of launchd",
  "scrape_configs:": "a configuration of Prometheus",
  "map $http_upgrade": "a configuration of nginx",
  "desk.example.org {": "a configuration of Caddy",
  "dist/trl serve --http": "stays in the foreground; examples/browser.test.ts does the same",
  "(cd ../.. && npx": "installs from the network; examples/electrobun.test.ts does the same",
  "import { FitAddon }": "runs in a page; examples/browser.test.ts does it there",
  "// ": "pieces of files; frontends.test.ts compares them",
  'const daemon = "http': "runs in a page; http-websocket.test.ts plays its part",
  '{"ticket":': "the form of an answer",
  '{"summary":': "excerpts of an answer",
  "\\n[trl: N": "the form of a marker",
};

for (const file of pages) {
  describe(file, () => {
    let page: Page | undefined;
    const open = async () => {
      await page?.[Symbol.asyncDispose]();
      page = await Page.open();
      return page;
    };
    beforeAll(async () => void (await open()));
    afterAll(async () => await page?.[Symbol.asyncDispose]());

    for (const example of examplesOf(readFileSync(join(root, file), "utf8")))
      test(`line ${example.line}: ${example.kind}`, async () =>
        await check(example.startsAnew ? await open() : page!, example));
  });
}

async function check(page: Page, example: Example): Promise<void> {
  if (example.kind === "python") {
    const { told, seen } = await page.runPython(example.code, example.output);
    expect(seen).toBe(told);
  } else if (example.kind === "console") {
    for (const step of example.steps) {
      const atTerminal = hands[step.command.replace(/ +# .*$/, "")];
      const { told, seen } = atTerminal ? await page.typeAtTerminal(step, atTerminal) : await page.type(step);
      expect(seen, `$ ${step.command}`).toBe(told);
    }
  } else if (example.kind === "json") JSON.parse(example.text);
  else if (example.kind === "wire") expect(faultsOf(example.text)).toEqual([]);
  else expect(Object.keys(notRun).filter((start) => example.text.startsWith(start))).toHaveLength(1);
}

test("what is not run, or is typed at a terminal, is still in a page", () => {
  const examples = pages.flatMap((file) => examplesOf(readFileSync(join(root, file), "utf8")));
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

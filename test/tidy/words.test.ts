// The vocabulary of docs/glossary.md: words that this project does not use, each with the one that it does; and words
// that say that something is unfinished.
import { describe, expect, test } from "bun:test";
import { basename } from "node:path";
import { list, read } from "./source.ts";

/** In pieces where the rule would otherwise find itself. */
const banned: { pattern: RegExp; use: string }[] = [
  {
    pattern: /\b(?:who|whom|whoever|somebody|someone|nobody|anybody|everybody|everyone)\b/i,
    use: "client, connection, caller, user, subscriber, process, or the thing in the code",
  },
  { pattern: /\b(?:is|are|was|were|be|been|being) told\b/i, use: "receives, is notified, is logged" },
  { pattern: /\bfor the moment\b/i, use: "temporary" },
  { pattern: /\b(?:the )?far (?:side|end)\b/i, use: "remote daemon, runtime" },
  { pattern: /\bsits? down\b/i, use: "attach" },
  { pattern: /\bcustody\b/i, use: "process ownership" },
  { pattern: /\bterritor(?:y|ies)\b/i, use: "process ownership" },
  { pattern: /\benclosures?\b/i, use: "isolation, limits and metering" },
  { pattern: /\b(?:spare|prepared) shells?\b/i, use: "warm shell" },
  { pattern: /\b(?:a|the) shell(?:s)? that waits?\b/i, use: "warm shell" },
  { pattern: /\bsole programs?\b/i, use: "direct exec" },
  { pattern: /\bstandstill\b/i, use: "read gate" },
  { pattern: /\b(?:parcel|letter of)\b/i, use: "state file, bootstrap environment" },
  { pattern: /\boutlets?\b/i, use: "writer, outgoing queue" },
  { pattern: /\bopeners?\b/i, use: "connector" },
  { pattern: /\bback-pressure\b/i, use: "backpressure" },
  { pattern: /\b(?:the|its|their) (?:door|doors|house|rooms?)\b/i, use: "listener, services, capacity" },
  { pattern: /\bways? in\b/i, use: "listener, transport" },
  { pattern: /\blanes?\b/i, use: "outgoing queue" },
  { pattern: /\baskers?\b/i, use: "request context, client" },
  { pattern: /\bkinship\b/i, use: "process ownership" },
  { pattern: /\b(?:tr(?:y|ies|ied|ying)) (?:it |them )?again\b/i, use: "retry, repeat" },
  { pattern: /\b(?:held|holds?|holding) back\b/i, use: "backpressure, delay" },
  { pattern: /\b(?:gives?|gave|given) (?:it |everything )?back\b/i, use: "roll back, return" },
  {
    pattern: /\b(?:a|the|its|their|that|this|one|other|another|some|own) places?\b/i,
    use: "path, directory, offset, position, runtime, routing table",
  },
];

/** Names of files and helpers carry the same vocabulary. */
const bannedNames =
  /\b(?:asker|lane|outlet|door|house|rooms?|places?|far|openers?|stability|custody|keep|territory|enclosures?|prepared|spares?|visits?|sole|parcel|letter|arrival|standstill|kinship|told|who)\b/;

const prose = [
  "README.md",
  "AGENTS.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...list("docs/*.md"),
  ...list("examples/**/*.md"),
  ...list("src/**/*.md"),
];
const code = list("{src,bench,examples}/**/*.{ts,mjs,c,h}");
const shell = list("{src,bench,examples}/**/*.{sh,zsh,py}");

/** Text that people read, line by line: comments and strings of code, pages without their code. */
function readableLines(file: string, text: string): string[] {
  if (file.endsWith(".md")) {
    const blank = (block: string) => block.replace(/[^\n]/g, "");
    // Names of tests are as their files have them.
    const withoutNames = text.replace(/(\]\(\.\.\/test\/[^)]+\)): .+?(?=<br>| *\|$|\)\.$)/gm, "$1");
    return withoutNames
      .replace(/^```[\s\S]*?^```/gm, blank)
      .replace(/`[^`\n]*`/g, "")
      .split("\n");
  }
  if (/\.(?:sh|zsh|py)$/.test(file))
    return text.split("\n").map((line) => /(?:^|\s)#(.*)$/.exec(line)?.[1] ?? "");
  const kept = text.replace(
    /(\/\/.*|\/\*[\s\S]*?\*\/)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|[^\n]/g,
    (_, comment?: string, string?: string) =>
      comment?.replace(/`[^`\n]*`/g, "") ?? (string?.includes(" ") ? string : " "),
  );
  return kept.split("\n");
}

function offences(file: string, text: string): string[] {
  return readableLines(file, text).flatMap((line, i) =>
    banned.flatMap(({ pattern, use }) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [`${file}:${i + 1}: "${found}": say ${use}`];
    }),
  );
}

describe("words:", () => {
  test("comments, messages and pages use the vocabulary", () =>
    expect([...code, ...shell, ...prose].flatMap((file) => offences(file, read(file)))).toEqual([]));

  test("names of files and test helpers use the vocabulary", () => {
    const files = [...list("{src,test,bench,examples,scripts}/**/*.{ts,sh,zsh,py}")];
    const words = (file: string) =>
      basename(file)
        .replace(/\.(?:full\.)?(?:test\.)?\w+$/, "")
        .replaceAll("-", " ")
        .replace("in place", "");
    expect(files.filter((file) => bannedNames.test(words(file)))).toEqual([]);
  });

  test("a banned word is found in a comment, a message and a page, not in code", () => {
    const word = ["cus", "tody"].join("");
    expect(offences("a.ts", `// in ${word}`)).toHaveLength(1);
    expect(offences("a.ts", `log("no ${word} here")`)).toHaveLength(1);
    expect(offences("a.ts", `const ${word} = state["${word}"];`)).toEqual([]);
    expect(offences("a.md", `In ${word}, \`${word}\`.\n\n\`\`\`sh\n${word}\n\`\`\``)).toHaveLength(1);
  });
});

describe("nothing is left over:", () => {
  const tests = list("test/**/*.ts");
  const texts = [...code, ...tests, ...prose, ...list("examples/**/*.py"), "build.ts"];
  // In pieces, so that this file does not find itself.
  const unfinished = [
    ["TO", "DO"],
    ["FIX", "ME"],
    ["X", "XX"],
    ["HA", "CK"],
    ["not ", "implemented"],
  ].map((pieces) => pieces.join(""));

  test("no word says that something is unfinished", () => {
    const found = unfinished.flatMap((word) => {
      const pattern = new RegExp(`\\b${word}\\b`, word === word.toUpperCase() ? "" : "i");
      return texts.filter((file) => pattern.test(read(file))).map((file) => `${file}: ${word}`);
    });
    expect(found).toEqual([]);
  });

  test("no test is left out but for a requirement that it names, by needs()", () => {
    const leftOut = /\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|skipIf|only|if|todo|todoIf)\b/;
    const mayLeaveOut = "test/support/needs.ts";
    expect(tests.filter((file) => file !== mayLeaveOut && leftOut.test(read(file)))).toEqual([]);
  });

  test("every dependency has one exact version", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json"));
    const versions = Object.entries<string>({ ...dependencies, ...devDependencies });
    expect(versions.length).toBeGreaterThan(0);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });
});

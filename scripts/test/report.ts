// Reads the JUnit report of `bun test`: outcomes, and skipped tests by missing requirement.
export interface TestCase {
  file: string;
  name: string;
  outcome: "passed" | "failed" | "skipped";
  /** Missing requirements, from the suffix that `needs` appends to the test's name. */
  missing: string[];
}

/** Hooks that fail or are skipped are reported as tests without a name. */
const hookName = "(unnamed)";

export function readReport(xml: string): TestCase[] {
  const elements = xml.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g);
  return [...elements].flatMap(([, attributes, content = ""]) => {
    const attribute = (name: string) =>
      decode(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes!)?.[1] ?? "");
    const isSkipped = content.includes("<skipped");
    if (isSkipped && attribute("name") === hookName) return [];
    const scopes = attribute("classname").split(" > ").filter(Boolean).reverse();
    const name = [...scopes, attribute("name")].join(" > ");
    const outcome = content.includes("<failure") ? "failed" : isSkipped ? "skipped" : "passed";
    return [{ file: attribute("file"), name, outcome, missing: missingIn(name) }];
  });
}

/** Also finds the suffix of an enclosing describe. */
function missingIn(name: string): string[] {
  const notes = name.matchAll(/ \(needs ([^)]*)\)/g);
  return [...new Set([...notes].flatMap(([, names]) => names!.split(", ")))];
}

const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const decode = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    return entities[name] ?? all;
  });

/** How many tests each missing requirement costs, the most expensive first. A test may lack several. */
export function costs(cases: TestCase[]): [requirement: string, tests: number][] {
  const counts = new Map<string, number>();
  for (const { missing, outcome } of cases)
    if (outcome !== "passed") for (const name of missing) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

export const countLine = (cases: TestCase[]): string =>
  (["passed", "failed", "skipped"] as const)
    .map((outcome) => `${cases.filter((it) => it.outcome === outcome).length} ${outcome}`)
    .join(", ");

// Runs test files with `bun test` in parallel and returns the JUnit report. If a worker crashes, Bun aborts the others
// without a report: their files run in another round, and the crash counts as one failed test.
import { rmSync } from "node:fs";
import { testMs } from "../../test/support/wait.ts";
import { readReport } from "./report.ts";

export interface RunFilesOptions {
  cwd: string;
  files: string[];
  workers: number;
  reportFile: string;
  env?: Record<string, string | undefined>;
  onStart?: (child: Bun.Subprocess) => void;
}

/** Bun's name for the test that was running when a worker crashed. */
const crashName = "(worker crashed)";

export async function runFiles(options: RunFilesOptions): Promise<{ code: number; xml: string }> {
  const first = await runOnce(options);
  const cases = readReport(first.xml);
  const reported = new Set(cases.map(({ file }) => file));
  const left = options.files.filter((file) => !reported.has(file));
  if (left.length === 0 || !cases.some(({ name }) => name === crashName)) return first;
  console.log(`\na worker has crashed; the ${left.length} files that it kept from running run now\n`);
  const rest = await runFiles({ ...options, files: left });
  return { code: first.code, xml: joinReports(first.xml, rest.xml) };
}

async function runOnce({ cwd, files, workers, reportFile, env, onStart }: RunFilesOptions) {
  rmSync(reportFile, { force: true });
  const flags = [
    `--parallel=${workers}`,
    "--timeout",
    String(testMs),
    "--max-concurrency=4",
    "--only-failures",
  ];
  const reporting = ["--reporter=junit", `--reporter-outfile=${reportFile}`];
  const paths = files.map((file) => `./${file}`);
  const child = Bun.spawn([process.execPath, "test", ...flags, ...reporting, ...paths], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  onStart?.(child);
  const code = await child.exited;
  const xml = await Bun.file(reportFile)
    .text()
    .catch(() => "");
  return { code, xml };
}

const joinReports = (one: string, other: string): string =>
  one.replace(
    "</testsuites>",
    `${/<testsuites[^>]*>([\s\S]*)<\/testsuites>/.exec(other)?.[1] ?? ""}</testsuites>`,
  );

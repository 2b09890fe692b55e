// `npm test` and its variants: checks, build and tests, then one summary of what failed and what was skipped for lack of
// what. CONTRIBUTING.md says which variant is for which change.
import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allProcesses } from "../../test/support/processes.ts";
import {
  excepted,
  isRequirement,
  isStrict,
  mustBeMet,
  problemOf,
  type RequirementName,
} from "../../test/support/requirements.ts";
import { stallsIn } from "../../test/support/stalls.ts";
import { ownersIn } from "../../test/support/temp-dir.ts";
import { costs, countLine, readReport, type TestCase } from "./report.ts";
import { runFiles } from "./run-files.ts";
import { setupHint } from "./setup-plan.ts";

const usage = `Usage: npm test -- [--mode MODE] [--tell-flaky] [--stalls] [--report FILE] [PATTERN ...]

  --mode normal       lint, types, shell, build, and all tests but the long variants: npm test
  --mode quick        lint, types, shell, unit tests and tidy, without a build or a daemon: npm run test:quick
  --mode integration  build, and the tests that are no unit tests: npm run test:integration
  --mode full         all of it, with the long variants: npm run test:full

  PATTERN        only test files whose path contains it, or one of them
  --tell-flaky   runs the files that failed once more, alone, to distinguish a flaky test from a broken one; the run has
                 failed all the same
  --stalls       fails where one turn of a daemon's event loop takes more than 100 ms of processor time, in which all
                 of its clients wait, and says what it did (Linux)
  --report FILE  keeps the report of the run, in the format of JUnit

  TRL_TEST_WORKERS=N runs N files at a time.
  TRL_TEST_STRICT=1 makes tests fail that lack something, instead of skipping them.
  TRL_TEST_WITHOUT=limits,docker excepts what this machine is known to lack.`;

const root = join(import.meta.dir, "../..");
const modes = ["normal", "quick", "integration", "full"] as const;
type Mode = (typeof modes)[number];

interface Options {
  mode: Mode;
  tellsFlaky: boolean;
  findsStalls: boolean;
  report: string | undefined;
  patterns: string[];
}

function optionsFrom(args: string[]): Options {
  const [known, words] = parse(args);
  if (known.help) stop(usage, 0);
  const mode = modes.find((name) => name === (known.mode ?? "normal"));
  if (!mode) stop(`no such mode: ${known.mode}\n\n${usage}`, 64);
  return {
    mode,
    tellsFlaky: known["tell-flaky"] ?? false,
    findsStalls: known.stalls ?? false,
    report: known.report,
    patterns: words.map((word) => word.replace(/^\.\//, "")),
  };
}

function parse(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        mode: { type: "string" },
        "tell-flaky": { type: "boolean" },
        stalls: { type: "boolean" },
        report: { type: "string" },
      },
    });
    return [values, positionals] as const;
  } catch (error) {
    return stop(`${(error as Error).message}\n\n${usage}`, 64);
  }
}

function stop(message: string, code: number): never {
  console[code === 0 ? "log" : "error"](message);
  process.exit(code);
}

const checks: Record<string, string[]> = {
  lint: ["bun", "run", "lint"],
  types: ["bun", "run", "typecheck"],
  shell: ["bun", "scripts/test/check-shell.ts"],
  build: ["bun", "run", "build"],
};
const checksOf: Record<Mode, string[]> = {
  normal: ["lint", "types", "shell", "build"],
  full: ["lint", "types", "shell", "build"],
  integration: ["build"],
  quick: ["lint", "types", "shell"],
};
/** A check is skipped if its tool is not installed; TRL_TEST_STRICT=1 makes that a failure. */
const toolOf: Record<string, RequirementName> = { shell: "shellcheck" };

const isQuick = (file: string) => /^test\/(?:unit\/|tidy)/.test(file);
const isLong = (file: string) => file.endsWith(".full.test.ts");

function filesOf({ mode, patterns }: Options): string[] {
  const all = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].sort();
  const ofMode = all.filter((file) => {
    if (isLong(file)) return mode === "full" || patterns.some((pattern) => file.includes(pattern));
    return mode === "quick" ? isQuick(file) : mode === "integration" ? !isQuick(file) : true;
  });
  if (patterns.length === 0) return ofMode;
  return ofMode.filter((file) => patterns.some((pattern) => file.includes(pattern)));
}

/** Shared by all processes of this run: cached checks of the machine, and the owner of each temporary directory. */
const runDir = mkdtempSync(join(tmpdir(), "trl-test-run-"));
process.env["TRL_TEST_RUN_DIR"] = runDir;
process.on("exit", () => rmSync(runDir, { recursive: true, force: true }));

/** The current `bun test`; killed with this process. */
let running: Bun.Subprocess | undefined;
const pidsAtFirst = executablePids();
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)
  process.on(signal, async () => {
    running?.kill("SIGKILL");
    await running?.exited;
    for (const pid of [...executablePids(), ...serverPids()]) if (!pidsAtFirst.includes(pid)) endProcess(pid);
    process.exit(code);
  });

/** Servers of tests (sshd, dockerd and its helpers) have a directory of their test in their arguments. */
function serverPids(): number[] {
  const dirs = [...ownersIn(runDir).keys()];
  return allProcesses().flatMap(({ pid, args }) => (dirs.some((dir) => args.includes(dir)) ? [pid] : []));
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // it has ended already
  }
}

/** Runs checks concurrently; prints the output of those that fail. */
async function runChecks(names: string[]): Promise<string[]> {
  const results = await Promise.all(
    names.map(async (name) => {
      const tool = toolOf[name];
      if (tool && problemOf(tool)) return { name, code: withoutTool(name, tool) };
      const began = performance.now();
      const child = Bun.spawn(checks[name]!, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (code !== 0) console.error(`${out}${err}`);
      console.log(`${name}: ${code === 0 ? "ok" : "FAILED"} (${seconds} s)`);
      return { name, code };
    }),
  );
  return results.filter(({ code }) => code !== 0).map(({ name }) => name);
}

/** Reports a check whose tool is not installed, and gives its exit code. */
function withoutTool(name: string, tool: RequirementName): number {
  const isFailure = mustBeMet(tool);
  const outcome = isFailure ? "FAILED" : "skipped";
  console.log(`${name}: ${outcome} (${problemOf(tool)!.reason}; npm run test:setup)`);
  return isFailure ? 1 : 0;
}

/** At least three: tests wait more than they compute. */
const workers = Number(process.env["TRL_TEST_WORKERS"] ?? Math.min(8, Math.max(3, availableParallelism())));

/** Runs files and returns all cases. A file that does not load counts as a failure. */
async function runTests(
  files: string[],
  { mode, workerCount, keepAs }: { mode: Mode; workerCount: number; keepAs?: string | undefined },
): Promise<TestCase[]> {
  const before = executablePids();
  const { code, xml } = await runFiles({
    ...{ cwd: root, files, workers: workerCount, reportFile: join(runDir, "report.xml") },
    env: mode === "full" ? { TRL_TEST_FULL: "1" } : {},
    onStart(child) {
      running = child;
    },
  });
  if (keepAs) writeFileSync(keepAs, xml);
  const cases = readReport(xml);
  const reported = new Set(cases.map(({ file }) => file));
  const failedToLoad = files.filter((file) => !reported.has(file));
  for (const file of failedToLoad)
    cases.push({
      file,
      name: "(did not run: it did not load, declares no test, or the run broke off)",
      outcome: "failed",
      missing: [],
    });
  if (code !== 0 && !cases.some(({ outcome }) => outcome === "failed"))
    cases.push({ file: "bun test", name: `ended with ${code}`, outcome: "failed", missing: [] });
  return [...cases, ...(await leftBehind(before))];
}

/** Processes of the executable under test; on macOS found by their command line. */
function executablePids(): number[] {
  const binary = join(root, "dist/trl");
  return allProcesses()
    .filter(({ pid, args, state }) => state !== "Z" && (programOf(pid) ?? args).startsWith(binary))
    .map(({ pid }) => pid);
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** A daemon that a test leaves behind is a failure, even if the test passed. */
async function leftBehind(before: number[]): Promise<TestCase[]> {
  let left: number[] = [];
  for (const deadline = performance.now() + 3000; performance.now() < deadline; await Bun.sleep(50)) {
    left = executablePids().filter((pid) => !before.includes(pid));
    if (left.length === 0) return [];
  }
  const owners = [...ownersIn(runDir)];
  return allProcesses()
    .filter(({ pid }) => left.includes(pid))
    .map(({ pid, args }) => {
      const [, owner = "unknown"] = owners.find(([dir]) => args.includes(dir)) ?? [];
      const name = `process ${pid} was left behind by ${owner}: ${args}`;
      return { file: "dist/trl", name, outcome: "failed", missing: [] };
    });
}

const titles = (cases: TestCase[]): string[] => cases.map(({ file, name }) => `  ${file}: ${name}`);
const failuresOf = (cases: TestCase[]): TestCase[] => cases.filter(({ outcome }) => outcome === "failed");

/** A skip without a missing requirement would otherwise go unnoticed. */
function failUnexplainedSkips(cases: TestCase[]): void {
  for (const it of cases) {
    const isExplained = it.missing.some((name) => isRequirement(name) && !mustBeMet(name));
    if (it.outcome === "skipped" && !isExplained) it.outcome = "failed";
  }
}

/** Runs failed files once more, alone; those that pass then are flaky. */
async function tellFlaky(failures: TestCase[], mode: Mode): Promise<string[]> {
  const files = [...new Set(failures.map(({ file }) => file))].filter((file) => file.endsWith(".test.ts"));
  if (files.length === 0) return [];
  console.log(`\nonce more, alone: ${files.join(" ")}\n`);
  const again = new Set(failuresOf(await runTests(files, { mode, workerCount: 1 })).map(({ file }) => file));
  const flaky = failures.filter(({ file }) => files.includes(file) && !again.has(file));
  if (flaky.length === 0) return [];
  return ["", "flaky: failed in the run, passed alone. Each needs a cause and a fix:", ...titles(flaky)];
}

function missingSummary(cases: TestCase[]): string[] {
  const found = costs(cases).flatMap(([name, tests]) =>
    isRequirement(name) ? [[name, tests] as const] : [],
  );
  if (found.length === 0) return [];
  const width = Math.max(...found.map(([name]) => name.length));
  const rows = found.map(([name, tests]) => {
    const reason = problemOf(name)?.reason ?? "missing";
    return `  ${name.padEnd(width)}  ${String(tests).padStart(4)} ${tests === 1 ? "test " : "tests"}  ${reason}`;
  });
  const verb = failuresOf(cases).some(({ missing }) => missing.length > 0)
    ? "failed (TRL_TEST_STRICT=1)"
    : "skipped";
  const hint = setupHint(found.map(([name]) => name));
  return ["", `${verb}, because this machine lacks:`, ...rows, ...hint];
}

const options = optionsFrom(process.argv.slice(2));
const files = filesOf(options);
const unmatched = options.patterns.filter((pattern) => !files.some((file) => file.includes(pattern)));
if (unmatched.length > 0) stop(`no test file of mode ${options.mode} matches ${unmatched.join(", ")}`, 64);
const mistaken = excepted.filter((name) => !isRequirement(name));
if (mistaken.length > 0) stop(`TRL_TEST_WITHOUT: no such requirement: ${mistaken.join(", ")}`, 64);
const began = performance.now();
const failedChecks = await runChecks(checksOf[options.mode]);
if (failedChecks.length > 0) stop(`failed: ${failedChecks.join(", ")}`, 1);

const stallFile = join(runDir, "stalls");
if (options.findsStalls) process.env["TRL_STALL_FILE"] = stallFile;
const cases = await runTests(files, { mode: options.mode, workerCount: workers, keepAs: options.report });
if (isStrict) failUnexplainedSkips(cases);
for (const name of stallsIn(stallFile)) cases.push({ file: "stall", name, outcome: "failed", missing: [] });
const failures = failuresOf(cases);
const flaky = options.tellsFlaky ? await tellFlaky(failures, options.mode) : [];
const summary = [
  ...(failures.length > 0 ? ["", "failed:", ...titles(failures)] : []),
  ...flaky,
  ...missingSummary(cases),
  "",
  `${files.length} files in ${((performance.now() - began) / 1000).toFixed(0)} s`,
  countLine(cases),
];
console.log(summary.join("\n"));
process.exit(failures.length > 0 ? 1 : 0);

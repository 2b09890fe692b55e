// Test files in workers of their own: one that crashes costs its own file, and no other.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countLine, readReport } from "../../../scripts/test/report.ts";
import { tempDir } from "../../support/temp-dir.ts";

test("a worker that crashes does not keep the other files from running", () => {
  using dir = tempDir();
  const bodies = {
    // Neither of the two ends by itself in the first round: the crash waits for the other to have begun.
    crash:
      'while (!existsSync("begun")) await Bun.sleep(5); process.kill(process.pid, "SIGSEGV"); await forEver;',
    aborted: 'if (existsSync("begun")) return; writeFileSync("begun", ""); await forEver;',
    later: "",
  };
  const imports = `import { test } from "bun:test";\nimport { existsSync, writeFileSync } from "node:fs";`;
  const forEver = "const forEver = new Promise(() => {});";
  for (const [name, body] of Object.entries(bodies))
    writeFileSync(
      join(dir.path, `${name}.test.ts`),
      `${imports}\n${forEver}\ntest("it", async () => { ${body} });\n`,
    );
  const files = Object.keys(bodies).map((name) => `${name}.test.ts`);
  // In a process of its own: what crashes there is shown on its output, and Bun's settings of this one are its own.
  const module = join(import.meta.dir, "../../../scripts/test/run-files.ts");
  const options = { cwd: dir.path, files, workers: 2, reportFile: join(dir.path, "report.xml") };
  const script = `
    import { writeFileSync } from "node:fs";
    import { runFiles } from ${JSON.stringify(module)};
    const { code, xml } = await runFiles(${JSON.stringify(options)});
    writeFileSync("whole.json", JSON.stringify({ code, xml }));`;
  Bun.spawnSync([process.execPath, "-e", script], { cwd: dir.path, env: environment() });
  const { code, xml } = JSON.parse(readFileSync(join(dir.path, "whole.json"), "utf8"));
  const cases = readReport(xml);
  expect(code).not.toBe(0);
  expect(countLine(cases)).toBe("2 passed, 1 failed, 0 skipped");
  expect(cases.find(({ outcome }) => outcome === "failed")?.file).toBe("crash.test.ts");
});

/** Without what tells Bun that this process is a worker. */
function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("BUN_")));
}

// The argv prefix that sets up a program's limits.
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchFailure, launchPrefix } from "../../../../src/core/isolation/launch-prefix.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const run = (argv: string[]) => {
  const { stdout, stderr, exitCode } = Bun.spawnSync(argv);
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
};

describe("a program is started", () => {
  test("without a prefix if there is no limit", () => expect(launchPrefix([], {})).toEqual([]));

  test("by an exec of the shell, with its arguments unchanged", () => {
    const words = ["a b", "$x", "'", '"', "", "-n", "é\n"];
    const { stdout } = run([...launchPrefix([], { openFiles: 50 }), "printf", "[%s]", ...words]);
    expect(stdout).toBe(words.map((word) => `[${word}]`).join(""));
    const script = "echo $$; echo $PPID";
    const [pid, parent] = run([...launchPrefix([], { openFiles: 50 }), "sh", "-c", script]).stdout.split(
      "\n",
    );
    expect(Number(parent)).toBe(process.pid);
    expect(Number(pid)).toBeGreaterThan(0);
  });

  test("within its limits, soft and hard", () => {
    const prefix = launchPrefix([], { cpuTimeS: 1.5, openFiles: 50, fileSizeBytes: 1000 });
    const show = "ulimit -St; ulimit -Ht; ulimit -Sn; ulimit -Hn; ulimit -Sf; ulimit -Hf";
    expect(run([...prefix, "/bin/sh", "-c", show]).stdout).toBe("2\n3\n50\n50\n2\n2\n");
  });

  test("after it has joined its control groups, with special characters in their names", () => {
    using dir = tempDir();
    const odd = join(dir.path, "it's $(odd)");
    mkdirSync(odd);
    const entrance = join(odd, "cgroup.procs");
    writeFileSync(entrance, "");
    expect(run([...launchPrefix([entrance], {}), "cat", entrance]).stdout).toBe("0\n");
    expect(readFileSync(entrance, "utf8")).toBe("0\n");
  });

  test("not at all if a limit cannot be set", () => {
    const { stdout, exitCode, stderr } = run([
      ...launchPrefix(["/nonexistent/cgroup.procs"], {}),
      "echo",
      "started",
    ]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: launchFailure });
    expect(stderr).toContain("/nonexistent/cgroup.procs");
  });
});

// Every accelerator of src/fast with what a user notices of it, and what it costs.
import type { AcceleratorName } from "../../src/fast/switches.ts";
import { commands, commandsAtOnce, echo, echoBesideFloods, flood, type Probe, stream } from "./probes.ts";

export interface Accelerator {
  name: AcceleratorName;
  about: string;
  risk: string;
  /** Files and folders, for the count of lines. */
  code: string[];
  probes: Probe[];
}

const pipe = "printf 'b\\na\\n' | sort | head -n 1";

export const accelerators: Accelerator[] = [
  {
    name: "warm-shells",
    about: "starts the next shell of a session ahead of its command",
    risk: "a shell waits up to 60 s in each used session",
    code: ["src/fast/warm-shells"],
    probes: [commands("a pipe", pipe), commandsAtOnce("16 sessions at once, a pipe", pipe, 16)],
  },
  {
    name: "in-place",
    about: "an idle bash runs builtins itself and waits on",
    risk: "decides by the text of the command that it cannot harm the shell",
    code: ["src/fast/in-place"],
    probes: [
      commands("`echo`", "echo hello"),
      commandsAtOnce("32 sessions at once, `echo`", "echo hello", 32),
    ],
  },
  {
    name: "direct-exec",
    about: "starts a command that is one program without a shell",
    risk: "rebuilds the environment that bash would pass on",
    code: ["src/fast/direct-exec"],
    probes: [
      commands("`/bin/true`", "/bin/true"),
      commandsAtOnce("32 sessions at once, `/bin/true`", "/bin/true", 32),
    ],
  },
  {
    name: "short-reports",
    about: "bash reports no state, or a part of it, after commands that cannot change more",
    risk: "decides by the text of the command what it can change",
    code: ["src/fast/short-reports", "src/fast/analysis"],
    probes: [
      commands("a pipe", pipe),
      commands("`cd` and `ls`", "cd /tmp && ls"),
      commandsAtOnce("16 sessions at once, a pipe", pipe, 16),
    ],
  },
  {
    name: "quick-check",
    about: "validates params of plain types without valibot",
    risk: "a test that differs from valibot's",
    code: ["src/fast/quick-check"],
    probes: [echo("keystroke echo, key after key")],
  },
  {
    name: "simd",
    about: "escapes the text of frames for JSON by vector instructions",
    risk: "hand-made WebAssembly",
    code: ["src/fast/simd"],
    probes: [stream("exec.stream, text", "utf8")],
  },
  {
    name: "direct-read",
    about: "reads terminals through an epoll set, bounded per turn, and floods in rounds",
    risk: "descriptors that Bun does not know of",
    code: [
      "src/core/terminal/drivers/master-reader-linux.ts",
      "src/core/terminal/flood-reader.ts",
      "src/platform/linux/readiness.ts",
    ],
    probes: [
      flood("terminal throughput"),
      echo("keystroke echo, key after key"),
      echoBesideFloods("keystroke echo beside 4 floods, p99"),
    ],
  },
];

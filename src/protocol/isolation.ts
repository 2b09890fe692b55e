// Isolation of a session or terminal: limits, root directory, sandbox. Unknown fields are refused, because a client must
// be able to rely on a limit that it asks for. `null` counts as missing, as in all params.
import * as v from "valibot";
import { OsPath } from "./fields.ts";

const atLeast = (least: number, what: string) =>
  v.pipe(v.number(), v.integer(`a whole number of ${what}`), v.minValue(least, `at least ${least} ${what}`));
const seconds = v.pipe(
  v.number(),
  v.finite("a finite number of seconds"),
  v.minValue(0.1, "at least 0.1 seconds"),
);

/** A shell needs a few for its libraries and pipes. */
const openFilesMin = 16;

export const Limits = v.strictObject({
  memory_bytes: v.nullish(
    v.pipe(
      atLeast(1, "bytes"),
      v.description("memory of all processes together; beyond it the kernel kills processes"),
    ),
  ),
  cpu_percent: v.nullish(
    v.pipe(atLeast(1, "percent"), v.description("of one processor, for all processes together; 200 is two")),
  ),
  pids: v.nullish(v.pipe(atLeast(1, "processes"), v.description("processes and threads at a time"))),
  cpu_time_s: v.nullish(
    v.pipe(seconds, v.description("processor time of a command, or of a terminal's program")),
  ),
  open_files: v.nullish(v.pipe(atLeast(openFilesMin, "files"), v.description("per process"))),
  file_size_bytes: v.nullish(
    v.pipe(atLeast(1, "bytes"), v.description("largest file that may be written, in steps of 512 bytes")),
  ),
  wall_clock_s: v.nullish(
    v.pipe(seconds, v.description("how long a command may run, whatever timeout_s it asks for")),
  ),
});
export type Limits = v.InferOutput<typeof Limits>;

const AbsolutePath = v.pipe(
  OsPath,
  v.check((path) => path.startsWith("/"), "an absolute path"),
);

export const Sandbox = v.strictObject({
  writable: v.nullish(v.pipe(v.array(AbsolutePath), v.description("paths that may be written to"))),
  hidden: v.nullish(v.pipe(v.array(AbsolutePath), v.description("paths that are empty inside the sandbox"))),
  network: v.nullish(v.pipe(v.boolean(), v.description("false, the default: no network at all"))),
  private_tmp: v.nullish(v.pipe(v.boolean(), v.description("true, the default: /tmp is the session's own"))),
});
export type Sandbox = v.InferOutput<typeof Sandbox>;

export const Isolation = v.strictObject({
  limits: v.nullish(Limits),
  root: v.nullish(v.pipe(AbsolutePath, v.description("directory that becomes / inside"))),
  sandbox: v.nullish(Sandbox),
});
export type Isolation = v.InferOutput<typeof Isolation>;

/** Limits that a receipt can report as hit. */
export const hitNames = ["memory", "pids", "cpu_time", "file_size", "wall_clock"] as const;
export type HitName = (typeof hitNames)[number];

export const Receipt = v.object({
  cpu_ms: v.nullable(v.number()),
  peak_memory_bytes: v.pipe(
    v.nullable(v.number()),
    v.description(
      "null if unknown: without a control group, values below the daemon's own memory cannot be measured",
    ),
  ),
  bytes_out: v.number(),
  leftovers: v.number(),
  measured_by: v.pipe(
    v.nullable(v.picklist(["process", "cgroup"])),
    v.description(
      "process: the shell and what it waited for, memory of the largest one; cgroup: all together",
    ),
  ),
  throttled_ms: v.optional(v.number()),
  limits_hit: v.array(v.picklist(hitNames)),
});
export type Receipt = v.InferOutput<typeof Receipt>;

/** How the requested isolation is enforced. */
export const IsolationInfo = v.object({
  limits: v.record(v.string(), v.object({ value: v.number(), by: v.string() })),
  cgroup: v.nullable(v.picklist(["v1", "v2"])),
  root: v.nullable(v.string()),
  sandbox: v.nullable(
    v.object({
      by: v.string(),
      writable: v.array(v.string()),
      hidden: v.array(v.string()),
      network: v.boolean(),
      private_tmp: v.boolean(),
    }),
  ),
});
export type IsolationInfo = v.InferOutput<typeof IsolationInfo>;

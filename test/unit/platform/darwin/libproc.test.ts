// The layouts of macOS structures, held against bytes that a C compiler wrote for the declarations of the headers.
import { describe, expect, test } from "bun:test";
import {
  bsdInfo,
  readBsdInfo,
  readProgramStart,
  readRusage,
  rusageInfo,
} from "../../../../src/platform/darwin/libproc.ts";
import { variablesIn } from "../../../../src/platform/darwin/process-table.ts";

const view = (hex: string, size: number): DataView => {
  const bytes = new Uint8Array(size);
  bytes.set(Buffer.from(hex, "hex"));
  return new DataView(bytes.buffer);
};

describe("struct proc_bsdinfo", () => {
  /** flags 0x4034, status SZOMB, pid 4242, ppid 77, uid 501, "zsh", pgid 4200, started at 1789000000.000042 */
  const zombie =
    "344000000500000000000000921000004d000000f5010000000000000000000000000000000000000000000000000000" +
    "7a7368000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" +
    "00000000681000000000000000000000000000000000000040f9a16a000000002a00000000000000";

  test("is read", () => {
    expect(Buffer.from(zombie, "hex").length).toBe(bsdInfo.size);
    expect(readBsdInfo(view(zombie, bsdInfo.size))).toEqual({
      ...{ pid: 4242, ppid: 77, pgid: 4200 },
      startTime: "1789000000.000042",
      isZombie: true,
    });
  });

  test("of a process that sleeps is no zombie", () => {
    const sleeping = `${zombie.slice(0, 8)}01${zombie.slice(10)}`;
    expect(readBsdInfo(view(sleeping, bsdInfo.size)).isZombie).toBe(false);
  });
});

test("struct rusage_info_v4 is read, in the units of the processor", () => {
  const bytes = view("", rusageInfo.size);
  bytes.setBigUint64(16, 24_000_000n, true); // ri_user_time
  bytes.setBigUint64(24, 12_000_000n, true); // ri_system_time
  bytes.setBigUint64(64, 5n << 20n, true); // ri_resident_size
  bytes.setBigUint64(240, 9n << 20n, true); // ri_lifetime_max_phys_footprint
  const sizes = { residentBytes: 5 << 20, peakBytes: 9 << 20 };
  expect(readRusage(bytes, 1)).toEqual({ cpuMs: 36, ...sizes });
  expect(readRusage(bytes, 125 / 3)).toEqual({ cpuMs: 1500, ...sizes });
});

describe("KERN_PROCARGS2", () => {
  const start = (count: number, text: string) => {
    const head = Buffer.alloc(4);
    head.writeInt32LE(count);
    return readProgramStart(Buffer.concat([head, Buffer.from(text)]));
  };

  test("has the words and the environment", () => {
    const text = "/bin/sh\0\0\0\0\0sh\0-c\0echo ä\0A=1\0TRL_SESSION_ID=s-1=2\0\0ptr_munge=\0\0";
    const { words, environment } = start(3, text);
    expect(words).toEqual(["sh", "-c", "echo ä"]);
    expect(environment).toEqual(["A=1", "TRL_SESSION_ID=s-1=2"]);
    expect(variablesIn(environment, ["TRL_SESSION_ID", "B"])).toEqual({ TRL_SESSION_ID: "s-1=2" });
  });

  test("without an environment, as macOS shows its own programs", () => {
    expect(start(2, "/bin/sleep\0\0sleep\x001000\0")).toEqual({ words: ["sleep", "1000"], environment: [] });
  });

  test("keeps an empty word", () => {
    expect(start(3, "/bin/x\0\0x\0\0y\0A=1\0\0").words).toEqual(["x", "", "y"]);
  });

  test("of a process that is ending may be cut off anywhere", () => {
    const whole = "/bin/sh\0\0sh\0-c\0A=1\0\0";
    for (let length = 0; length < whole.length; length++)
      expect(() => start(2, whole.slice(0, length))).not.toThrow();
    expect(readProgramStart(new Uint8Array())).toEqual({ words: [], environment: [] });
  });
});

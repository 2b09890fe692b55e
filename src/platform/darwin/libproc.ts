// libproc and sysctl of macOS: what the kernel says of a process, without starting ps(1). Layouts of structures are data
// here, with the header that defines them, so that a test can hold them against bytes of a C compiler.
import { FFIType, ptr } from "bun:ffi";
import { openOnDemand } from "../c-library.ts";

const { i32, u32, u64, pointer } = FFIType;

const libc = openOnDemand({
  proc_listallpids: { args: [pointer, i32], returns: i32 },
  proc_pidinfo: { args: [i32, i32, u64, pointer, i32], returns: i32 },
  proc_pid_rusage: { args: [i32, i32, pointer], returns: i32 },
  mach_timebase_info: { args: [pointer], returns: i32 },
  getsid: { args: [i32], returns: i32 },
  getrlimit: { args: [i32, pointer], returns: i32 },
  sysctl: { args: [pointer, u32, pointer, pointer, pointer, u64], returns: i32 },
});

/** `struct proc_bsdinfo` of <sys/proc_info.h>, xnu-7195 to xnu-11215: offsets in bytes. */
export const bsdInfo = {
  ...{ flavor: 3, size: 136 },
  ...{ status: 4, pid: 12, ppid: 16, pgid: 100, startSeconds: 120, startMicroseconds: 128 },
} as const;

/** `struct rusage_info_v4` of <sys/resource.h>, same versions. Times are in units of `mach_timebase_info`. */
export const rusageInfo = {
  ...{ flavor: 4, size: 296 },
  ...{ userTime: 16, systemTime: 24, residentSize: 64, maxFootprint: 240 },
} as const;

/** <sys/proc.h> */
const SZOMB = 5;

export interface BsdInfo {
  pid: number;
  ppid: number;
  pgid: number;
  /** Seconds and microseconds since 1970. */
  startTime: string;
  isZombie: boolean;
}

export function readBsdInfo(bytes: DataView): BsdInfo {
  const seconds = bytes.getBigUint64(bsdInfo.startSeconds, true);
  const microseconds = bytes.getBigUint64(bsdInfo.startMicroseconds, true);
  return {
    pid: bytes.getUint32(bsdInfo.pid, true),
    ppid: bytes.getUint32(bsdInfo.ppid, true),
    pgid: bytes.getUint32(bsdInfo.pgid, true),
    startTime: `${seconds}.${String(microseconds).padStart(6, "0")}`,
    isZombie: bytes.getUint32(bsdInfo.status, true) === SZOMB,
  };
}

const infoBytes = new DataView(new ArrayBuffer(bsdInfo.size));
const includeZombies = 1;

/** Undefined if the process has ended, or belongs to another user and this one is not root. */
export function bsdInfoOf(pid: number): BsdInfo | undefined {
  const { flavor, size } = bsdInfo;
  const length = libc().proc_pidinfo(pid, flavor, includeZombies, ptr(infoBytes), size);
  return length === size ? readBsdInfo(infoBytes) : undefined;
}

export const sessionOf = (pid: number): number => libc().getsid(pid);

/** Processes that start between the two calls. */
const spareCount = 64;

export function allPids(): number[] {
  const { proc_listallpids } = libc();
  const pids = new Int32Array(Math.max(0, proc_listallpids(null, 0)) + spareCount);
  const count = proc_listallpids(ptr(pids), pids.byteLength);
  return [...pids.subarray(0, Math.max(0, count))].filter((pid) => pid > 0);
}

export interface ProgramStart {
  words: string[];
  environment: string[];
}

/**
 * What KERN_PROCARGS2 returns (sysctl_procargsx in bsd/kern/kern_sysctl.c): the number of words, the path of the
 * program, NULs up to a multiple of the word size, the words, then the environment up to an empty string.
 */
export function readProgramStart(bytes: Uint8Array): ProgramStart {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wordCount = text.length < 4 ? 0 : text.readInt32LE(0);
  let at = text.indexOf(0, 4);
  if (at < 0) return { words: [], environment: [] };
  while (text[at] === 0) at++;
  const strings = text.toString("utf8", at).split("\0");
  const environment = strings.slice(wordCount);
  const end = environment.indexOf("");
  return {
    words: strings.slice(0, wordCount),
    environment: end < 0 ? environment : environment.slice(0, end),
  };
}

const CTL_KERN = 1;
const KERN_ARGMAX = 8;
const KERN_PROCARGS2 = 49;

let argumentBytes: Uint8Array | undefined;
const argumentLength = new BigUint64Array(1);
const name = new Int32Array(3);

/** Undefined if the process has ended, is a zombie, or belongs to another user. */
export function programStartOf(pid: number): ProgramStart | undefined {
  argumentBytes ??= new Uint8Array(argumentsMax());
  const length = sysctl([CTL_KERN, KERN_PROCARGS2, pid], argumentBytes);
  return length === undefined ? undefined : readProgramStart(argumentBytes.subarray(0, length));
}

const usualArgumentsMax = 1024 * 1024;

function argumentsMax(): number {
  const value = new Int32Array(1);
  return sysctl([CTL_KERN, KERN_ARGMAX], value) === undefined ? usualArgumentsMax : value[0]!;
}

/** The length of the value. */
function sysctl(mib: number[], value: Int32Array | Uint8Array): number | undefined {
  name.set(mib);
  argumentLength[0] = BigInt(value.byteLength);
  const result = libc().sysctl(ptr(name), mib.length, ptr(value), ptr(argumentLength), null, 0);
  return result === 0 ? Number(argumentLength[0]) : undefined;
}

export interface RunningInfo {
  cpuMs: number;
  residentBytes: number;
  /** The highest footprint since the program began. */
  peakBytes: number;
}

export function readRusage(bytes: DataView, nsPerUnit: number): RunningInfo {
  const field = (offset: number) => Number(bytes.getBigUint64(offset, true));
  return {
    cpuMs: ((field(rusageInfo.userTime) + field(rusageInfo.systemTime)) * nsPerUnit) / 1e6,
    residentBytes: field(rusageInfo.residentSize),
    peakBytes: field(rusageInfo.maxFootprint),
  };
}

const rusageBytes = new DataView(new ArrayBuffer(rusageInfo.size));

export function runningInfoOf(pid: number): RunningInfo | undefined {
  const failed = libc().proc_pid_rusage(pid, rusageInfo.flavor, ptr(rusageBytes)) !== 0;
  return failed ? undefined : readRusage(rusageBytes, nsPerUnit());
}

/** 1 on Intel processors, 125/3 on Apple's. */
function nsPerUnit(): number {
  const ratio = new Uint32Array(2);
  return libc().mach_timebase_info(ptr(ratio)) === 0 && ratio[1]! > 0 ? ratio[0]! / ratio[1]! : 1;
}

/** RLIMIT_NPROC and RLIMIT_NOFILE of <sys/resource.h>. */
export const limits = { processes: 7, openFiles: 8 } as const;

const limitPair = new BigUint64Array(2); // struct rlimit: soft, hard
/** RLIM_INFINITY */
const unlimited = (1n << 63n) - 1n;

/** The soft limit of this process. */
export function softLimit(resource: number): number | undefined {
  if (libc().getrlimit(resource, ptr(limitPair)) !== 0) return undefined;
  return limitPair[0]! >= unlimited ? Number.POSITIVE_INFINITY : Number(limitPair[0]);
}

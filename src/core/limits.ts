// Numbers of the core: name, unit, why.

/** Between SIGTERM and SIGKILL for a timeout or a cancel: enough for a tool to remove its lock files. */
export const commandGraceMs = 2000;

/** The same when a session is destroyed: the caller waits for the reply. */
export const destroyGraceMs = 1000;

/** The same at shutdown: supervisors and launcher scripts expect the process gone within a second. */
export const shutdownGraceMs = 300;

/** SIGKILL cannot be refused, but a process in uninterruptible I/O takes its time; then it is logged. */
export const killPatienceMs = 5000;

/** How often a dying tree is looked at. */
export const killPollMs = 5;

/** A background process that keeps writing delays the reply no longer than this (the contract says 100). */
export const drainMaxMs = 80;

/** A shell started ahead costs some 3 MB; a session that rests this long gives it back. */
export const warmShellIdleMs = 60_000;

/** What a session may carry from command to command. Beyond it the state stays as it was. */
export const shellStateMaxBytes = 16 * 1024 * 1024;

/** A new pipe takes one page at once whatever the system's limits; more is written as the reader reads. */
export const pipeSyncWriteMaxBytes = 4096;

/** How often idle and aged sessions are looked for, and adopted processes that have ended are reaped. */
export const cleanupIntervalMs = 1000;

/** Input that a command has not read yet; more is refused. */
export const inputPendingMaxBytes = 1024 * 1024;

/** Commands that have ended are kept for those who come back: so many, of so many bytes, for so long. */
export const retainedCommandsMax = 256;
export const retainedBytesMax = 64 * 1024 * 1024;
export const retainedSeconds = 600;

// Modules of Node that load its streams, which takes milliseconds. They are loaded on first use, so that a daemon without
// use for them starts faster.

export const childProcesses = () => process.getBuiltinModule("node:child_process");
export const zlib = () => process.getBuiltinModule("node:zlib");
export const streams = () => process.getBuiltinModule("node:stream/promises");
export const files = () => process.getBuiltinModule("node:fs/promises");

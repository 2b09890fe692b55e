// Modules of the runtime that bring its streams along. Loading those takes milliseconds, and a daemon that has no use for
// them is not to pay for them at its start: they are loaded when they are asked for.

export const childProcesses = () => process.getBuiltinModule("node:child_process");
export const zlib = () => process.getBuiltinModule("node:zlib");
export const streams = () => process.getBuiltinModule("node:stream/promises");
export const files = () => process.getBuiltinModule("node:fs/promises");

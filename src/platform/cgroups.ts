// The kernel's texts about control groups, for isolation and `trl doctor` to parse. Empty outside of Linux.
import * as linux from "./linux/cgroups.ts";

const isLinux = process.platform === "linux";

/** What is mounted, in the format of mountinfo in proc(5); empty if it cannot be read. */
export const readMounts = (): string => (isLinux ? linux.readMounts() : "");

/** The control groups of this process, in the format of cgroups(7): ID:CONTROLLERS:PATH; empty if they cannot be read. */
export const readOwnCgroups = (): string => (isLinux ? linux.readOwnCgroups() : "");

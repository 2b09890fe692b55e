import { readFileSync } from "node:fs";

/** Whether this process runs on musl: that the machine has one says nothing. */
export const runsOnMusl = (): boolean => readFileSync("/proc/self/maps", "latin1").includes("ld-musl");

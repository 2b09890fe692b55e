import { readFileSync } from "node:fs";
import type { Limits } from "./limits.ts";

export function limitsLinux(): Limits {
  const text = readFileSync("/proc/self/limits", "utf8");
  const softOf = (name: string) => {
    const soft = new RegExp(`^Max ${name}\\s+(\\S+)`, "m").exec(text)?.[1];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  };
  return { openFiles: softOf("open files"), processes: softOf("processes") };
}

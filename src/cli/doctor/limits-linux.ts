import { readOwnLimits } from "../../platform/own-process.ts";
import type { Limits } from "./limits.ts";

export function limitsLinux(): Limits {
  const limits = readOwnLimits();
  if (!limits) throw new Error("could not read the limits of this process");
  return limits;
}

// Refusing early, while there is still room to say so.
import { descriptorLimit, openDescriptors, residentBytes } from "../../platform/own-process.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Log } from "../log.ts";
import type { CoreOptions } from "./options.ts";

/** New sessions are refused first: those that exist may finish their work. */
export function refuseUnderPressure(options: CoreOptions, log: Log): void {
  const fds = openDescriptors();
  const threshold = options.fdWarningThreshold || Math.floor(descriptorLimit() * 0.8);
  if (fds >= threshold) {
    log.warn("file descriptors are running low", { open: fds, threshold });
    throw new TrlError("RESOURCE_PRESSURE", `${fds} file descriptors are open (threshold ${threshold})`);
  }
  const residentMb = Math.round(residentBytes() / 1024 / 1024);
  if (options.memoryPressureMb > 0 && residentMb >= options.memoryPressureMb) {
    log.warn("memory is running low", { residentMb, threshold: options.memoryPressureMb });
    throw new TrlError(
      "RESOURCE_PRESSURE",
      `the daemon holds ${residentMb} MB (limit ${options.memoryPressureMb})`,
    );
  }
}

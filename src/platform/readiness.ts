// Callbacks for readable descriptors, without reading them.
import * as linux from "./linux/readiness.ts";

/** `isHungUp`: no process has the other side open; what was written before can still be read. */
export type OnReadable = (isHungUp: boolean) => void;

const isLinux = process.platform === "linux";

/** Calls back in each turn in which the descriptor is readable, until `unwatchReadable`. False if the system cannot. */
export const watchReadable = (fd: number, onReadable: OnReadable): boolean =>
  isLinux && linux.watchReadable(fd, onReadable);

/** Must be called before the descriptor is closed. */
export function unwatchReadable(fd: number): void {
  if (isLinux) linux.unwatchReadable(fd);
}

/** Opens the descriptors that all watches share. A daemon does it at start, as descriptors may run out later. */
export function prepareReadiness(): void {
  if (isLinux) linux.prepareReadiness();
}

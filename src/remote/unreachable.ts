import { NoDaemonError } from "../client/carriers/carrier.ts";

/** The place can be reached, but no daemon has been started there yet: which is no trouble. */
export class UnreachableError extends NoDaemonError {}

// Numbers of the runtimes: name, unit, reason.

/** Window of a command's output for a client that asked for none: enough for a link with a long round trip. */
export const streamWindowBytes = 1024 * 1024;

/** Forwarded output is acknowledged after this long at the latest: the remote daemon buffers it until then. */
export const acknowledgeMs = 20;

/** Window of a terminal's output: smaller, so that ^C takes effect soon. */
export const terminalWindowBytes = 256 * 1024;

/** A clean link that no client uses is pooled this long, so that a POST need not wait for ssh. */
export const idleLinkMs = 60_000;
export const idleLinksMax = 4;

/** Time for the first reply on a new link; ssh may have to authenticate and wake a machine first. */
export const handshakeMs = 30_000;

/** A request waits this long for a link that was just lost. */
export const requestTimeoutMs = 5000;

/** A subscription or a wait for a command waits this long for a link, unless the runtime has `patience_s`. */
export const defaultPatienceS = 60;

/** A link that lasted this long was usable. */
export const stableMs = 1000;

/** Between attempts to reach a runtime again. */
export const retryDelays = { firstMs: 20, maxMs: 2000 };

/** A list, or a search for an id, waits this long for each runtime. */
export const listTimeoutMs = 2000;

/** A runtime that could not be reached is left out of lists and searches for this long. */
export const listRetryMs = 5000;

/** Ids of commands, and of ended sessions, in the routing table; older ones are found by a search. */
export const streamRoutesMax = 10_000;
export const endedRoutesMax = 10_000;

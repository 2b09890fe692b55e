// Numbers of the runtimes: name, unit, why.

/** Of a command's output under way to a client that asked for no window: enough for a link that is far away. */
export const streamWindowBytes = 1024 * 1024;

/** What has been passed on is acknowledged after so long at the latest: what is not is kept there, which costs room. */
export const acknowledgeMs = 20;

/** Of a terminal's output: less, so that ^C is felt. */
export const terminalWindowBytes = 256 * 1024;

/** A link to a runtime that nobody uses is kept for the next one, so that a POST need not wait for ssh. */
export const idleLinkMs = 60_000;
export const idleLinksMax = 4;

/** A daemon that is reached says so within this time; ssh may have to ask, wake and greet somebody first. */
export const handshakeMs = 30_000;

/** A request waits so long for a link that was lost just now. */
export const requestPatienceMs = 5000;

/** Who follows a stream or waits for a command waits so long, unless the runtime's `patience_s` says otherwise. */
export const defaultPatienceS = 60;

/** A link that lasted so long was a good one. */
export const stableMs = 1000;

/** Between attempts to reach a runtime again. */
export const firstDelayMs = 20;
export const delayMaxMs = 2000;

/** A list, or a search for an id, waits so long for each runtime. */
export const lookMs = 2000;

/** One that could not be reached is not asked again for so long by those who merely look. */
export const lookAgainMs = 5000;

/** Ids of commands, and of sessions that have ended, that are remembered; others are looked for. */
export const streamRoutesMax = 10_000;
export const endedRoutesMax = 10_000;

/** Silence after which a link is asked whether it is alive, and after which it is taken for dead. */
export const askAfterMs = 15_000;
export const silenceMaxMs = 45_000;

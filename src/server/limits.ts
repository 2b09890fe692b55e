// Numbers of the transports: name, unit, why.

/** A command waits at most so long for a client to resume, whatever stall timeout that client asked for. */
export const resumePointSecondsMax = 60;

/** At shutdown, a connection is closed after the client has read nothing for so long. */
export const drainStallMs = 400;
/** At shutdown, a connection is closed after so long, however steadily the client reads. */
export const drainMaxMs = 2000;

/** Bytes buffered for a pipe, a response or a WebSocket; beyond it nothing more is written (backpressure). */
export const pipeBytesMax = 1024 * 1024;

/** Interval of the check whether standard output still has a reader: without output no write would fail. */
export const readerCheckMs = 250;

/** Interval of the check whether enough descriptors are left to accept HTTP connections. */
export const descriptorCheckMs = 250;

/** An HTTP client that sends nothing for so long before its request is complete is disconnected. */
export const idleHttpSeconds = 10;

/** Deadline for a request's body, however fast its bytes drip. */
export const bodyMs = 30_000;

/** Output bytes of one frame; floods are gathered into frames of this size. */
export const frameBytesMax = 192 * 1024;
/** Output bytes of a base64 frame: the encoded frame is as long as others, so a socket accepts it in one write. */
export const base64FrameBytesMax = (frameBytesMax / 4) * 3;

/** Requests of one client answered in one turn of the event loop: one chunk may hold thousands. */
export const linesPerTurnMax = 64;
/** The same in bytes: one long line may take as long as thousands of short ones. */
export const lineBytesPerTurnMax = 64 * 1024;
/** Reading from a client pauses while it has more unread bytes than this. */
export const unreadBytesMax = 1024 * 1024;

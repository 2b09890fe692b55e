// Numbers of the transports: name, unit, why.

/** A command waits no longer for a client whose connection broke, however patient that one said it is. */
export const heldPlaceSecondsMax = 60;

/** At shutdown, how long a client may take nothing of what is still for it before its connection is closed. */
export const farewellStallMs = 400;
/** At shutdown, how long a client may take in all, however steadily it reads. */
export const farewellMaxMs = 2000;

/** Written to a pipe, a response or a WebSocket and not taken yet; beyond it nothing more is written. */
export const pipeBytesMax = 1024 * 1024;

/** How often it is looked whether somebody still reads standard output: a quiet command would not tell. */
export const readerCheckMs = 250;

/** How often it is looked whether there is room for more connections by HTTP. */
export const roomCheckMs = 250;

/** A client that says nothing for so long before its request is whole is let go. */
export const idleHttpSeconds = 10;

/** A request's body, however fast its bytes drip. */
export const bodyMs = 30_000;

/** Floods are gathered into frames of at most so many bytes of output. */
export const frameBytesMax = 192 * 1024;
/** As base64 they are as long as the others: a socket takes that at once, and nothing has to be kept of them. */
export const base64FrameBytesMax = (frameBytesMax / 4) * 3;

/** Requests of one client that are taken up in a row: thousands may come in one piece. */
export const linesPerTurnMax = 64;
/** The same in bytes: a long line may take as long as thousands of short ones. */
export const lineBytesPerTurnMax = 64 * 1024;
/** With so much of it waiting to be taken up, a client is not read until it is less. */
export const unreadBytesMax = 1024 * 1024;

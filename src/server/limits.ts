// Numbers of the transports: name, unit, why.

/** Replies that a client has not read yet; beyond it the client itself is not read. */
export const queuedBytesMax = 8 * 1024 * 1024;

/** Requests of one connection that run at once; more wait in the socket. */
export const pendingRequestsMax = 1024;

/** At shutdown, how long the last replies may take to leave. */
export const farewellMs = 100;

/** Floods are gathered into frames of at most so many bytes of output. */
export const frameBytesMax = 192 * 1024;

// Constants of the core: name, unit, reason.

/** Between SIGTERM and SIGKILL for a timeout or a cancel: enough for a tool to remove its lock files. */
export const commandGraceMs = 2000;

/** The same when a session is destroyed: the caller waits for the reply. */
export const destroyGraceMs = 1000;

/** The same at shutdown: supervisors and launcher scripts expect the process to end within a second. */
export const shutdownGraceMs = 300;

/** The same for leftovers of a killed daemon: no client waits, and all of them should end within three seconds. */
export const leftoverGraceMs = 500;

/** A process in uninterruptible I/O ends some time after SIGKILL; after this timeout it is logged. */
export const killTimeoutMs = 5000;

/** The poll interval for processes that are ending. */
export const killPollMs = 5;

/** A background process that writes on delays the reply no longer than this (the contract says 100). */
export const drainMaxMs = 80;

/** A warm shell occupies some 0.5 MB; a session that is idle for this long ends its shell. */
export const warmShellIdleMs = 60_000;

/**
 * Warm shells of all sessions together: a 64th of the memory, at 0.5 MB each, and a quarter of the descriptors, at 10
 * each. The kernel's list of children is read at the end of each command: with 750 of them that took 0.25 ms more of the
 * daemon's time than with 100, for every command.
 */
export const warmShells = {
  memoryPart: 1 / 64,
  bytesEach: 512 * 1024,
  descriptorsPart: 1 / 4,
  descriptorsEach: 10,
  max: 256,
};

/** If no processor was free after a command, the session's next warm shell starts this much later, when one is. */
export const warmShellDelayMs = 20;

/** A command that runs longer counts as waiting, and not as load. */
export const loadAgeMs = 1000;

/** State that a session carries from command to command. Beyond it the state stays as it was. */
export const shellStateMaxBytes = 16 * 1024 * 1024;

/** A new pipe accepts one page without blocking, whatever the system's limits; the rest waits for the reader. */
export const pipeSyncWriteMaxBytes = 4096;

/** The interval of expiry checks, and of reaping adopted processes. */
export const cleanupIntervalMs = 1000;

/** Between two scans of owned processes while a command or a terminal is young. */
export const youngCensusMs = 50;

/** Input that a command has not read yet; more is refused. */
export const inputPendingMaxBytes = 1024 * 1024;

/** Ended commands that stay available to clients that reconnect: how many, how large, for how long. */
export const retainedCommandsMax = 256;
export const retainedBytesMax = 64 * 1024 * 1024;
export const retainedSeconds = 600;

/**
 * Output of all running and retained commands together; less on a machine with less than eight times that memory. Alone,
 * a command may use all that `max_output_bytes` allows for both its streams.
 */
export const outputBytesMax = 128 * 1024 * 1024;

/** The streams share it down to this much each, which live readers need as a buffer. */
export const outputLogMinBytes = 512 * 1024;

/** The journal for crash recovery is rewritten when the file reaches this size. */
export const journalBytesMax = 256 * 1024;

/** The retry interval after the journal could not be written, for example on a full disk. */
export const journalPauseMs = 5000;

/** Lists show this much of a command line: enough to recognise it, and a long list stays small. */
export const commandTextMaxChars = 500;

/**
 * Output of a terminal for clients to resume from, and the lag that a subscriber may have: a fifth of a second of the
 * fastest flood, hours of anything else. The ring grows with the output.
 */
export const terminalRingBytes = 8 * 1024 * 1024;

/**
 * Output of all terminals together; less on a machine with less than eight times that memory. Beyond it a ring grows no
 * further than its current size or the minimum.
 */
export const terminalRingsBytesMax = 256 * 1024 * 1024;
export const terminalRingMinBytes = 1024 * 1024;

/** The ring of a terminal that is idle for this long and has no reader is compressed, this much per turn (some ms). */
export const ringIdleMs = 5000;
export const packBytesPerTurn = 2 * 1024 * 1024;

/** Lines above the screen, a common default of terminals. */
export const scrollbackLines = 2000;

/** Output that the emulator reads only when a screen is requested, which takes some 5 ms. */
export const unreadScreenBytes = 256 * 1024;

/** In a flood the screen is updated after each batch of this size; must fit into the ring. */
export const floodScreenBytes = 512 * 1024;

/** An emulator with its lines occupies up to some MB; after this idle time it is dropped, and recreated when needed. */
export const emulatorIdleMs = 1000;

/** Output that a screen process reads for one terminal before it serves the next: some milliseconds of work. */
export const screenWorkBytes = 16 * 1024;

/** Processor time for one such batch, or for drawing one screen; ordinary ones take a hundredth. */
export const screenWorkMs = 2000;

/** A screen process that uses more memory is killed; several hundred ordinary screens use less. */
export const screenProcessBytesMax = 1536 * 1024 * 1024;

/** Backoff of the retries for a screen over its budget: the first delay, doubled each time, and the maximum. */
export const screenBackoffMs = 1000;
export const screenBackoffMaxMs = 60_000;

/** After a program has queried its terminal, input of clients waits for the answer, at most this long. */
export const answerTimeoutMs = 250;

/** The screen process starts this long after the first terminal: a screen will be requested soon. */
export const screenProcessStartMs = 10;

/** The screen process occupies some 50 MB; it ends after this time without an open screen. */
export const screenProcessIdleMs = 30_000;

/** Output of one terminal before the others are served, and the pause between two such turns. */
export const floodTurnBytes = 64 * 1024;
/** The same for the only flooding terminal while no client types, if Bun reads it. */
export const loneFloodTurnBytes = 256 * 1024;
export const floodTurnPauseMs = 1;
/** One turn of reading a flood, in which no client is served. */
export const readTurnMs = 0.5;
/** After this much silence the flood is over. */
export const quietFloodMs = 2;
/** With smaller reads the reader sleeps instead of waiting: a millisecond later one read returns it all. */
export const floodPieceBytes = 2048;

/** While a client types, floods pause this long between turns, until this long after the last keystroke. */
export const politePauseMs = 16;
/** The same for terminals that the daemon reads itself, in turns of bounded length. */
export const politeReadPauseMs = 3;
export const typingMs = 250;

/** How long a terminal may take to process a ^S that was typed during a flood. */
export const userDecidesMs = 50;

/** If a background process holds the terminal of an ended program open, this much silence ends the output. */
export const quietAfterExitMs = 30;

/** Ended terminals that stay available to late clients: how many, how large, for how long. */
export const exitedTerminalsMax = 256;
export const exitedTerminalBytesMax = 32 * 1024 * 1024;
export const exitedTerminalSeconds = 600;

/** The interval at which the processor time of a command with a limit is checked. */
export const cpuCheckMs = 100;

/**
 * Descriptors in reserve. A listener that cannot accept for lack of one spins on the processor, and without one the daemon
 * cannot read the process table.
 */
export const reservedDescriptors = 16;

/** Descriptors that the start of a command or terminal needs: both ends of its pipes, and their readers. */
export const commandDescriptors = 16;

/** A reply holds its output several times: as bytes, as text, as JSON and in the socket's queue. Measured: 6.5. */
export const replyFactor = 7;

/** A trial of a shell within its limits takes some milliseconds; one that thrashes is killed after this timeout. */
export const helperTimeoutMs = 10_000;

// Numbers of the core: name, unit, why.

/** Between SIGTERM and SIGKILL for a timeout or a cancel: enough for a tool to remove its lock files. */
export const commandGraceMs = 2000;

/** The same when a session is destroyed: the caller waits for the reply. */
export const destroyGraceMs = 1000;

/** The same at shutdown: supervisors and launcher scripts expect the process gone within a second. */
export const shutdownGraceMs = 300;

/** The same for what a killed daemon has left: nobody waits for it, and all is to be gone within three seconds. */
export const leftoverGraceMs = 500;

/** SIGKILL cannot be refused, but a process in uninterruptible I/O takes its time; then it is logged. */
export const killPatienceMs = 5000;

/** How often a dying tree is looked at. */
export const killPollMs = 5;

/** A background process that keeps writing delays the reply no longer than this (the contract says 100). */
export const drainMaxMs = 80;

/** A warm shell holds some 0.5 MB of its own; a session that rests this long gives it back. */
export const warmShellIdleMs = 60_000;

/**
 * Warm shells of all sessions together: a 64th of the memory, at 0.5 MB each, and a quarter of the descriptors, of
 * which each takes 10. The kernel's list of children is read at each command's end: with 750 of them that took 0.25 ms
 * more of the daemon's time than with 100, whatever the command.
 */
export const warmShells = {
  memoryPart: 1 / 64,
  bytesEach: 512 * 1024,
  descriptorsPart: 1 / 4,
  descriptorsEach: 10,
  max: 256,
};

/** Where no processor was free, a session's next shell is started when so long after its command one is. */
export const warmShellDelayMs = 20;

/** A command that runs longer is taken for one that waits, and not for load. */
export const loadAgeMs = 1000;

/** What a session may carry from command to command. Beyond it the state stays as it was. */
export const shellStateMaxBytes = 16 * 1024 * 1024;

/** A new pipe takes one page at once whatever the system's limits; more is written as the reader reads. */
export const pipeSyncWriteMaxBytes = 4096;

/** How often idle and aged sessions are looked for, and adopted processes that have ended are reaped. */
export const cleanupIntervalMs = 1000;

/** Between two looks at what is in custody, while a command or a terminal is young. */
export const youngCensusMs = 50;

/** Input that a command has not read yet; more is refused. */
export const inputPendingMaxBytes = 1024 * 1024;

/** Commands that have ended are kept for those who come back: so many, of so many bytes, for so long. */
export const retainedCommandsMax = 256;
export const retainedBytesMax = 64 * 1024 * 1024;
export const retainedSeconds = 600;

/**
 * What the output of all commands takes together, of those that run and of those that are kept; less on a machine with
 * less memory than eight times that. Alone, a command may have all that `max_output_bytes` allows for both its streams.
 */
export const outputBytesMax = 128 * 1024 * 1024;

/** Down to so much for each stream, it is divided among them. Live readers need that much to be a little late. */
export const outputLogMinBytes = 512 * 1024;

/** What is noted of them for the case that the daemon is killed: a file that is written anew when it is so large. */
export const journalBytesMax = 256 * 1024;

/** Where it could not be written, as on a full disk, it is tried again after so long. */
export const journalPauseMs = 5000;

/** Of a command line this much is told in lists: what it is can be seen, and a list of many stays small. */
export const commandTextMaxChars = 500;

/**
 * Output of a terminal that can be resumed from, and by which a subscriber may lag behind: a fifth of a second of the
 * worst flood, hours of anything else. It grows with what is printed.
 */
export const terminalRingBytes = 8 * 1024 * 1024;

/**
 * What the output of all terminals takes together; less on a machine with less memory than eight times that. Beyond it
 * none keeps more than it does already, or so much.
 */
export const terminalRingsBytesMax = 256 * 1024 * 1024;
export const terminalRingMinBytes = 1024 * 1024;

/** Who has printed nothing for so long and is not looked at has its output packed, so much of all in one turn (some ms). */
export const ringIdleMs = 5000;
export const packBytesPerTurn = 2 * 1024 * 1024;

/** Lines above the screen that are kept, as terminals usually do. */
export const scrollbackLines = 2000;

/** Output that is simply read again when a screen is wanted, which takes some 5 ms. */
export const unreadScreenBytes = 256 * 1024;

/** In a flood so much is gathered before its screen is thought of; must be in the ring. */
export const floodScreenBytes = 512 * 1024;

/** An emulator with its lines takes up to some MB; one that is not used for so long is made anew when needed. */
export const emulatorIdleMs = 1000;

/** Output that a screen process reads for one terminal before others have their turn: some milliseconds of work. */
export const screenWorkBytes = 16 * 1024;

/** Processor time for one such piece of work, or one screen to be drawn; ordinary ones take a hundredth. */
export const screenWorkMs = 2000;

/** A screen process that takes more is ended; several hundred ordinary screens take less. */
export const screenProcessBytesMax = 1536 * 1024 * 1024;

/** A screen that was over its budget is tried again after so long, and each time after twice as long, up to: */
export const screenBackoffMs = 1000;
export const screenBackoffMaxMs = 60_000;

/** A program has asked its terminal something: what a client types meanwhile waits for the answer, at most so long. */
export const answerPatienceMs = 250;

/** The process is started so long after the first terminal was made: the first screen is wanted soon. */
export const screenProcessStartMs = 10;

/** It takes some 50 MB; where no screen is open for so long, it goes. */
export const screenProcessIdleMs = 30_000;

/** How long terminals are read in one turn of the event loop, beyond the piece that is being read. */
export const readTurnMs = 1;

/** What a terminal may print before others have their turn, and the pause between two turns. */
export const floodTurnBytes = 64 * 1024;
/** The same where it is the only one, nobody types, and it cannot be read but as Bun does. */
export const loneFloodTurnBytes = 256 * 1024;
export const floodTurnPauseMs = 1;
/** How long the only one that prints is waited for, each time and in one turn, and when without a word it is no flood any more. */
export const patienceMs = 0.05;
export const longestPatienceMs = 1;
export const quietFloodMs = 2;
/** With less at a time it is waited for asleep: a millisecond later there is as much as then can be read at once. */
export const floodPieceBytes = 2048;

/** While somebody types, floods get a part of the machine only: so long a pause, until so long after a keystroke. */
export const politePauseMs = 16;
/** The same where the daemon reads them itself, and what a turn takes is bounded. */
export const politeReadPauseMs = 3;
export const typingMs = 250;

/** How long a terminal may take to see a ^S that was typed during a flood. */
export const userDecidesMs = 50;

/** A program has ended and a background process holds its terminal: so long a silence ends the output, too. */
export const quietAfterExitMs = 30;

/** Terminals that have ended are kept for those who come late: so many, of so many bytes, for so long. */
export const exitedTerminalsMax = 256;
export const exitedTerminalBytesMax = 32 * 1024 * 1024;
export const exitedTerminalSeconds = 600;

/** How often the processor time of a command that has a limit for it is looked at. */
export const cpuCheckMs = 100;

/**
 * Descriptors that nothing may take. A listener that cannot accept for want of one keeps a processor busy, and without
 * one the daemon cannot even look at its own processes.
 */
export const reservedDescriptors = 16;

/** What a command or a terminal takes while it is started: both ends of its pipes, and what reads them. */
export const commandDescriptors = 16;

/** With so many left they are not looked at for a moment: more than all commands together open in that time. */
export const plentyOfDescriptors = 2000;
export const plentyMs = 100;

/** Output that is replied with is there several times: as bytes, as text, as JSON and on its way. Measured: 6.5. */
export const replyFactor = 7;

/** A shell that is tried within its limits needs some milliseconds; one that thrashes is not waited for. */
export const helperPatienceMs = 10_000;

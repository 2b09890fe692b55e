// What decides whether a simple command is a program that can be started without a fork of the shell.

/** Harmless builtins that also exist as programs, which behave differently. */
export const shadowedBuiltins = new Set([":", "[", "echo", "false", "kill", "printf", "pwd", "test", "true"]);

/** `setsid` forks only as a group leader, and a program that replaces the shell is one: the command would end early. */
export const leavesSession = /\bsetsid\b/;

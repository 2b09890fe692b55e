// Compiled by the tests against the packed package, as an application would be: what is right must compile, and what
// is wrong must not. It is never run.
import {
  attachXterm,
  type Chunk,
  CommandError,
  type CommandStream,
  ConnectionError,
  connect,
  type ErrorCode,
  isTrlError,
  type MethodName,
  type Run,
  type Session,
  type Terminal,
  type Trl,
  TrlError,
  type XtermLike,
} from "trl/client";

export async function rightUse(xterm: XtermLike): Promise<void> {
  await using trl: Trl = await connect("unix:/run/trl.sock", { patienceS: 3 });
  await connect({ url: "https://example.org/trl", ticket: async () => "ticket" });
  await connect({ command: ["ssh", "host", "trl", "--stdin"], stderr: "inherit" });
  await connect({ open: ({ message }) => ({ send: (frame) => message(frame), close() {} }) });

  const { uptime_s } = await trl.call("system.ping");
  uptime_s satisfies number;
  const { streams } = await trl.call("exec.list", {}, { signal: AbortSignal.timeout(1000) });
  streams[0]?.kind satisfies "run" | "stream" | undefined;

  await using session: Session = await trl.session({
    name: "work",
    workingDir: "/",
    env: { A: "b", C: null },
  });
  const result: Run = await session.run("make", { timeoutS: 5, check: true });
  result.stdout satisfies string;
  result.leftovers[0]?.pid satisfies number | undefined;
  const inBytes = await session.run("cat picture", { encoding: "bytes" });
  inBytes.stdout satisfies Uint8Array;

  const stream: CommandStream = session.stream("make", { openStdin: true, stallTimeoutS: 1 });
  for await (const chunk of stream) chunk satisfies Chunk<string>;
  for await (const { data } of session.stream("cat", { encoding: "bytes" })) data satisfies Uint8Array;
  (await stream.exited).durationMs satisfies number;

  await using terminal: Terminal = await trl.terminal({ command: "vim", cols: 80, rows: 24, reuse: true });
  const { matched, screen } = await terminal.wait({ idleMs: 100 }, { timeoutS: 3 });
  matched satisfies "text" | "regex" | "idle" | "exit" | "timeout";
  screen.alternateScreen satisfies boolean;
  const stop = terminal.onOutput((bytes, { isRedraw, offset }) => [bytes.length, isRedraw, offset]);
  stop();
  using _attached = attachXterm(terminal, xterm, { scrollback: 10 });

  try {
    await trl.openSession("gone");
  } catch (error) {
    if (isTrlError(error, "SESSION_NOT_FOUND")) error.code satisfies "SESSION_NOT_FOUND";
    if (error instanceof CommandError) error.result.exitCode satisfies number;
    if (error instanceof ConnectionError) error.mayHaveRun satisfies boolean;
    if (error instanceof TrlError) error.code satisfies ErrorCode;
  }
}

export async function wrongUse(trl: Trl, session: Session, terminal: Terminal): Promise<void> {
  // @ts-expect-error no such target
  await connect({ sockte: "/run/trl.sock" });
  // @ts-expect-error no such method
  await trl.call("session.crate", {});
  // @ts-expect-error a parameter is missing
  await trl.call("exec.run", { command: "true" });
  // @ts-expect-error the wire's spelling holds in `call`
  await trl.call("exec.run", { session_id: "s", command: "true", timeoutS: 1 });
  // @ts-expect-error JavaScript's spelling holds in handles
  await session.run("true", { timeout_s: 1 });
  // @ts-expect-error a number
  await session.run("true", { timeoutS: "1" });
  // @ts-expect-error no such option
  session.stream("true", { stdIn: "" });
  // @ts-expect-error the window is the client's own business
  session.stream("true", { windowBytes: 1 });
  // @ts-expect-error text is text
  (await session.run("true")).stdout satisfies Uint8Array;
  // @ts-expect-error no such field
  await terminal.wait({ txt: "x" });
  // @ts-expect-error no such code
  isTrlError(undefined, "SESSION_LOST");
  // @ts-expect-error no such method
  const _method: MethodName = "system.pong";
}

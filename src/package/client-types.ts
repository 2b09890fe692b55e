// Types of the parameters and results of `trl/client`.
export type { Carrier, CarrierEvents, OpenCarrier } from "../client/carriers/carrier.ts";
export type { ChildTarget } from "../client/carriers/child.ts";
export type { WebTarget } from "../client/carriers/websocket.ts";
export type { Chunk } from "../client/chunk-queue.ts";
export type { CommandExit } from "../client/command-exit.ts";
export type { CommandStream } from "../client/command-stream.ts";
export type { Discovered } from "../client/discover.ts";
export type { Camelized } from "../client/naming.ts";
export type { ConnectionState } from "../client/persistent-link.ts";
export type {
  Run,
  RunInBytes,
  RunOptions,
  Session,
  SessionOptions,
  StreamOptions,
} from "../client/session.ts";
export type { ConnectOptions, Target } from "../client/target.ts";
export type { Terminal, TerminalOptions, Waited } from "../client/terminal.ts";
export type { OutputInfo, TerminalExit, TerminalWatcher, WatchOptions } from "../client/terminal-feed.ts";
export type { CallOptions, Trl } from "../client/trl.ts";
export type { XtermLike, XtermOptions } from "../client/xterm.ts";
export type { ErrorCode } from "../protocol/errors.ts";
export type { MethodName, Params, Result } from "../protocol/methods.ts";

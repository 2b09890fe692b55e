import { terminalSummary } from "../../core/pty/summary.ts";
import type { Terminal } from "../../core/pty/terminal.ts";
import { waitFor } from "../../core/pty/wait.ts";
import { TrlError } from "../../protocol/errors.ts";
import { decodeData } from "../decode-data.ts";
import type { Client } from "../lane.ts";
import { methodDialect } from "../terminal-frames.ts";
import { type SubscriptionSpec, TerminalSubscription } from "../terminal-subscription.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

const keystrokeBytesMax = 16;

type PtyHandlers = Pick<Handlers, Extract<keyof Handlers, `pty.${string}`>>;

export function ptyHandlers({ registry }: HandlerContext): PtyHandlers {
  const { terminals, options } = registry;
  return {
    "pty.create": (params, { quota }) =>
      quota.makeSession(registry.has, () => {
        const created = terminals.createInTime(params);
        return created instanceof Promise ? created.then(terminalSummary) : terminalSummary(created);
      }),

    "pty.write": ({ session_id, data, encoding = "utf8" }, { lane, subscriptions }) => {
      const bytes = decodeData(data, encoding);
      return terminals.use(session_id, (terminal) => {
        const pending = terminal.write(bytes, lane);
        const reply = { session_id, bytes: bytes.length, pending_bytes: pending };
        // Who types waits for the echo, not for the reply: that goes first.
        const isKeystroke = bytes.length <= keystrokeBytesMax && subscriptions.has(session_id);
        return isKeystroke ? terminal.echo.printedOrLate().then(() => reply) : reply;
      });
    },

    "pty.resize": ({ session_id, cols, rows }, { lane }) =>
      terminals.use(session_id, (terminal) => {
        const applied = terminal.resize({ cols, rows }, lane);
        return { session_id, ...terminal.size, applied };
      }),

    "pty.close": async ({ session_id }) => {
      const terminal = terminals.get(session_id);
      await terminal.close();
      const { exitCode, signal } = terminal.exit!;
      return { session_id, state: "terminated", exit_code: exitCode, signal };
    },

    "pty.list": () => ({ sessions: terminals.list().map(terminalSummary) }),

    "pty.subscribe": ({ session_id, from, replay, scrollback = 0 }, client) =>
      terminals.use(session_id, (terminal) => {
        const { ring, size, exit } = terminal;
        refuseBeyondEnd(from, ring.end);
        const start = from ?? (replay === "none" ? ring.end : undefined);
        subscribe(terminal, client, { dialect: methodDialect, from: start, scrollback });
        return {
          session_id,
          offset: start ?? terminal.boundary,
          ...size,
          state: exit ? "exited" : "running",
        };
      }),

    "pty.unsubscribe": ({ session_id }, { subscriptions }) => {
      terminals.get(session_id);
      const subscription = subscriptions.get(session_id);
      subscription?.end();
      return { session_id, unsubscribed: subscription !== undefined };
    },

    "pty.snapshot": ({ session_id, format = "text", scrollback = 0 }) => {
      const terminal = terminals.get(session_id);
      terminal.touch();
      return terminal.snapshot(format, scrollback);
    },

    "pty.wait": async ({ session_id, until, timeout_s }) => {
      const terminal = terminals.get(session_id);
      terminal.touch();
      const matched = await waitFor(terminal, until, timeout_s ?? options.defaultTimeoutS);
      return { matched, screen: terminal.snapshot("text", 0) };
    },
  };
}

/** One for each terminal and connection: a second one takes the place of the first. */
export function subscribe(
  terminal: Terminal,
  { lane, subscriptions, afterReply }: Client,
  how: Pick<SubscriptionSpec, "dialect" | "from" | "scrollback">,
): void {
  subscriptions.get(terminal.id)?.end();
  const subscription = new TerminalSubscription({
    ...how,
    terminal,
    lane,
    onEnd: () => {
      if (subscriptions.get(terminal.id) === subscription) subscriptions.delete(terminal.id);
    },
  });
  subscriptions.set(terminal.id, subscription);
  afterReply(() => subscription.start());
}

function refuseBeyondEnd(from: number | undefined, end: number): void {
  if (from === undefined || from <= end) return;
  throw new TrlError("INVALID_PARAMS", `from: expected at most ${end}, which is where the output ends now`);
}

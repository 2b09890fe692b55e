// Terminals: their life, input and screen.
import { terminalSummary } from "../../core/terminal/summary.ts";
import type { Terminal } from "../../core/terminal/terminal.ts";
import { waitFor } from "../../core/terminal/wait.ts";
import { hostRuntime as runtime } from "../../protocol/runtime.ts";
import { decodeData } from "../decode-data.ts";
import { isQueryReply } from "../terminal-replies.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";
import type { SubscriptionHandlers } from "./pty-subscriptions.ts";

type PtyHandlers = Pick<
  Handlers,
  Exclude<Extract<keyof Handlers, `pty.${string}`>, keyof SubscriptionHandlers>
>;

export function ptyHandlers({ registry, queryReplies }: HandlerServices): PtyHandlers {
  const { terminals, options } = registry;
  return {
    "pty.create": (params, { connection: { quota } }) =>
      quota.createSession(registry.isLive, () => {
        const created = terminals.createInTime(params);
        return created instanceof Promise ? created.then(localSummary) : localSummary(created);
      }),

    "pty.write": ({ session_id, data, encoding = "utf8" }, { connection: { queue, subscriptions } }) => {
      const bytes = decodeData(data, encoding);
      return terminals.use(session_id, (terminal) => {
        const isReply = isQueryReply(bytes);
        if (isReply && !queryReplies.mayReply(terminal, subscriptions))
          return { session_id, bytes: bytes.length, pending_bytes: 0 };
        if (!isReply) queryReplies.noteTyping(terminal, subscriptions);
        const pending = terminal.write(bytes, isReply ? undefined : queue);
        return { session_id, bytes: bytes.length, pending_bytes: pending };
      });
    },

    "pty.resize": ({ session_id, cols, rows }, { connection: { queue } }) =>
      terminals.use(session_id, (terminal) => {
        const applied = terminal.resize({ cols, rows }, queue);
        return { session_id, ...terminal.size, applied };
      }),

    "pty.close": async ({ session_id }) => {
      const terminal = terminals.get(session_id);
      const left = await terminal.close();
      const { exitCode, signal } = terminal.exit!;
      const ended = { session_id, state: "terminated" as const, exit_code: exitCode, signal };
      return left.length > 0 ? { ...ended, left } : ended;
    },

    "pty.list": ({ state }) => {
      const listed = state === "running" ? terminals.live : terminals.list();
      return { sessions: listed.filter(({ exit }) => state !== "exited" || exit).map(localSummary) };
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
      return { matched, screen: await terminal.snapshot("text", 0) };
    },
  };
}

const localSummary = (terminal: Terminal) => ({ ...terminalSummary(terminal), runtime });

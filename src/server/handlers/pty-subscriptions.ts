// Subscribing clients to terminals.
import type { Terminal } from "../../core/terminal/terminal.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { RequestContext } from "../request-context.ts";
import { methodDialect } from "../terminal-frames.ts";
import { type SubscriptionSpec, TerminalSubscription } from "../terminal-subscription.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";

export type SubscriptionHandlers = Pick<Handlers, "pty.subscribe" | "pty.unsubscribe" | "pty.ack">;

export function subscriptionHandlers({ registry, terminalFrames }: HandlerServices): SubscriptionHandlers {
  const { terminals } = registry;
  return {
    "pty.subscribe": ({ session_id, from, replay, scrollback = 0, ...how }, context) =>
      terminals.use(session_id, async (terminal) => {
        const { ring } = terminal;
        refuseBeyondEnd(from, ring.end);
        const start = from ?? (replay === "none" ? ring.end : undefined);
        const subscription = subscribe(terminal, context, {
          frames: terminalFrames,
          dialect: methodDialect,
          from: start,
          scrollback,
          windowBytes: how.window_bytes,
          isPassive: how.passive ?? false,
          exitsAfterTree: how.exit_after_tree ?? false,
        });
        const offset = await subscription.prepare();
        return { session_id, offset, ...terminal.size, state: terminal.exit ? "exited" : "running" };
      }),

    "pty.ack": ({ session_id, offset }, { connection: { subscriptions } }) => {
      subscriptions.get(session_id)?.acknowledge(offset);
      return { session_id };
    },

    "pty.unsubscribe": async ({ session_id }, { connection: { subscriptions, queue } }) => {
      terminals.get(session_id);
      const subscription = subscriptions.get(session_id);
      subscription?.end();
      await queue.drained(); // frames of this subscription must not follow the reply to a new pty.subscribe
      return { session_id, unsubscribed: subscription !== undefined };
    },
  };
}

/** A connection has one subscription for each terminal: a second one replaces the first. */
export function subscribe(
  terminal: Terminal,
  context: RequestContext,
  how: Omit<SubscriptionSpec, "terminal" | "queue" | "onEnd">,
): TerminalSubscription {
  const { queue, subscriptions } = context.connection;
  subscriptions.get(terminal.id)?.end();
  const subscription = new TerminalSubscription({
    ...how,
    terminal,
    queue,
    onEnd: () => {
      if (subscriptions.get(terminal.id) === subscription) subscriptions.delete(terminal.id);
    },
  });
  subscriptions.set(terminal.id, subscription);
  context.afterReply(() => subscription.start());
  return subscription;
}

export function refuseBeyondEnd(from: number | undefined, end: number): void {
  if (from === undefined || from <= end) return;
  throw new TrlError("INVALID_PARAMS", `from: expected at most ${end}, which is where the output ends now`);
}

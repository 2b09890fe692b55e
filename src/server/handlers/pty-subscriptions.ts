// Who watches which terminal.
import type { Terminal } from "../../core/terminal/terminal.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Client } from "../outgoing-queue.ts";
import { methodDialect } from "../terminal-frames.ts";
import { type SubscriptionSpec, TerminalSubscription } from "../terminal-subscription.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

export type SubscriptionHandlers = Pick<Handlers, "pty.subscribe" | "pty.unsubscribe" | "pty.ack">;

export function subscriptionHandlers({
  registry: { terminals },
  encoder,
}: HandlerContext): SubscriptionHandlers {
  return {
    "pty.subscribe": ({ session_id, from, replay, scrollback = 0, ...how }, client) =>
      terminals.use(session_id, async (terminal) => {
        const { ring } = terminal;
        refuseBeyondEnd(from, ring.end);
        const start = from ?? (replay === "none" ? ring.end : undefined);
        const subscription = subscribe(terminal, client, {
          dialect: methodDialect,
          encoder,
          from: start,
          scrollback,
          windowBytes: how.window_bytes,
          isPassive: how.passive ?? false,
          exitsAfterTree: how.exit_after_tree ?? false,
        });
        const offset = await subscription.prepare();
        return { session_id, offset, ...terminal.size, state: terminal.exit ? "exited" : "running" };
      }),

    "pty.ack": ({ session_id, offset }, { subscriptions }) => {
      subscriptions.get(session_id)?.acknowledge(offset);
      return { session_id };
    },

    "pty.unsubscribe": async ({ session_id }, { subscriptions, lane }) => {
      terminals.get(session_id);
      const subscription = subscriptions.get(session_id);
      subscription?.end();
      await lane.emptied(); // who subscribes again must not meet what is left of this
      return { session_id, unsubscribed: subscription !== undefined };
    },
  };
}

/** One for each terminal and connection: a second one takes the place of the first. */
export function subscribe(
  terminal: Terminal,
  { lane, subscriptions, afterReply }: Client,
  how: Omit<SubscriptionSpec, "terminal" | "lane" | "onEnd">,
): TerminalSubscription {
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
  return subscription;
}

export function refuseBeyondEnd(from: number | undefined, end: number): void {
  if (from === undefined || from <= end) return;
  throw new TrlError("INVALID_PARAMS", `from: expected at most ${end}, which is where the output ends now`);
}

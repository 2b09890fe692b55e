// pty.wait: waits until a terminal shows a pattern, stops printing or ends.
import type { Until, WaitOutcome } from "../../protocol/pty.ts";
import { afterSeconds } from "../../util/long-timer.ts";
import type { TerminalListener } from "./subscribers.ts";
import type { Terminal } from "./terminal.ts";

/** After the timeout, the search of the output printed by then may take so much longer. */
const lastSearchMs = 200;

/** Searches the screen as it is now and all output from now on, including lines that scroll away at once. */
export function waitFor(terminal: Terminal, until: Until, timeoutS: number): Promise<WaitOutcome> {
  const { text, regex } = until;
  const pattern = text === undefined && regex === undefined ? undefined : { text, regex };
  return new Promise((resolve, reject) => {
    const search = pattern && terminal.picture.waitFor(pattern);
    let stopIdleTimer = () => {};
    const listener: TerminalListener = {
      isDisplay: false,
      printed: () => restartIdleTimer(),
      resized() {},
      exited: () => finishWhenRead("exit"),
    };
    const stopTimer = afterSeconds(timeoutS, () => {
      finishWhenRead("timeout");
      setTimeout(() => finish("timeout"), lastSearchMs);
    });
    const stop = () => {
      stopTimer();
      stopIdleTimer();
      search?.stop();
      terminal.subscribers.remove(listener);
    };
    const finish = (outcome: WaitOutcome) => {
      stop();
      resolve(outcome);
    };
    /** A pattern in output printed before has precedence: `found` resolves within this turn of the event loop. */
    const finishWhenRead = (outcome: WaitOutcome) => {
      const finishLater = () => void setImmediate(() => finish(outcome));
      if (search) search.caughtUp().then(finishLater, finishLater);
      else finish(outcome);
    };
    const restartIdleTimer = () => {
      stopIdleTimer();
      if (until.idle_ms === undefined) return;
      stopIdleTimer = afterSeconds(Math.max(1, until.idle_ms) / 1000, () => finishWhenRead("idle"));
    };
    search?.found.then(finish, (error) => {
      stop();
      reject(error);
    });
    terminal.subscribers.add(listener);
    restartIdleTimer();
    if (terminal.exit) finishWhenRead("exit");
  });
}

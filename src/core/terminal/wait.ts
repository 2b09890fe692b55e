// Waits until a terminal shows something, falls silent or ends.
import type { Until, WaitOutcome } from "../../protocol/pty.ts";
import { afterSeconds } from "../../util/long-timer.ts";
import type { TerminalListener } from "./subscribers.ts";
import type { Terminal } from "./terminal.ts";

/** After the timeout, what is printed by then is looked at for so long. */
const lastLookMs = 200;

/** What is on the screen now counts, and what is printed from now on, also where it scrolls away at once. */
export function waitFor(terminal: Terminal, until: Until, timeoutS: number): Promise<WaitOutcome> {
  const { text, regex } = until;
  const pattern = text === undefined && regex === undefined ? undefined : { text, regex };
  return new Promise((resolve, reject) => {
    const search = pattern && terminal.picture.waitFor(pattern);
    let stopSilence = () => {};
    const listener: TerminalListener = {
      isDisplay: false,
      printed: () => awaitSilence(),
      resized() {},
      exited: () => finishWhenRead("exit"), // nothing more will come
    };
    const stopTimer = afterSeconds(timeoutS, () => {
      finishWhenRead("timeout");
      setTimeout(() => finish("timeout"), lastLookMs); // however long the reading takes
    });
    const stop = () => {
      stopTimer();
      stopSilence();
      search?.stop();
      terminal.audience.remove(listener);
    };
    const finish = (outcome: WaitOutcome) => {
      stop();
      resolve(outcome);
    };
    /** What was printed before has precedence: it is found before this turn of the event loop is over. */
    const finishWhenRead = (outcome: WaitOutcome) => {
      const finishLater = () => void setImmediate(() => finish(outcome));
      if (search) search.caughtUp().then(finishLater, finishLater);
      else finish(outcome);
    };
    const awaitSilence = () => {
      stopSilence();
      if (until.idle_ms === undefined) return;
      stopSilence = afterSeconds(Math.max(1, until.idle_ms) / 1000, () => finishWhenRead("idle"));
    };
    search?.found.then(finish, (error) => {
      stop();
      reject(error);
    });
    terminal.audience.add(listener);
    awaitSilence();
    if (terminal.exit) finishWhenRead("exit");
  });
}

// Waits until a terminal shows something, falls silent or ends.
import { TrlError } from "../../protocol/errors.ts";
import type { Until, WaitOutcome } from "../../protocol/pty.ts";
import { afterSeconds } from "../../util/long-timer.ts";
import type { TerminalFollower, TerminalListener } from "./audience.ts";
import type { Emulator } from "./emulator.ts";
import type { Terminal } from "./terminal.ts";

/** What is on the screen now counts, and what goes by from now on, also where it scrolls away at once. */
export function waitFor(terminal: Terminal, until: Until, timeoutS: number): Promise<WaitOutcome> {
  const match = matcher(until);
  return new Promise((resolve) => {
    let stopSilence = () => {};
    const listener: TerminalListener & TerminalFollower = {
      isDisplay: false,
      printed() {
        awaitSilence();
        if (match) look();
      },
      resized() {},
      // Nothing more will come.
      exited: () => finish("exit"),
    };
    const stopTimer = afterSeconds(timeoutS, () => finish("timeout"));
    const finish = (outcome: WaitOutcome) => {
      stopTimer();
      stopSilence();
      terminal.audience.unfollow(listener);
      terminal.audience.remove(listener);
      resolve(outcome);
    };
    const awaitSilence = () => {
      stopSilence();
      if (until.idle_ms === undefined) return;
      stopSilence = afterSeconds(Math.max(1, until.idle_ms) / 1000, () => finish("idle"));
    };
    const look = () => {
      let found =
        terminal.picture.finalText === undefined ? undefined : match?.text(terminal.picture.finalText);
      terminal.picture.look((emulator) => {
        found ??= match?.screen(emulator);
      });
      if (found) finish(found);
      return found;
    };
    terminal.audience.add(listener);
    terminal.audience.follow(listener);
    awaitSilence();
    if (match && look()) return;
    if (terminal.exit) finish("exit");
  });
}

type Found = "text" | "regex" | undefined;

interface Matcher {
  text(shown: string): Found;
  /** Sees the screen, and above it what has scrolled by since it last looked. */
  screen(emulator: Emulator): Found;
}

function matcher({ text, regex }: Until): Matcher | undefined {
  if (text === undefined && regex === undefined) return undefined;
  const pattern = regex === undefined ? undefined : compile(regex);
  const match = (shown: string): Found => {
    if (text !== undefined && shown.includes(text)) return "text";
    return pattern?.test(shown) ? "regex" : undefined;
  };
  let seen: number | undefined;
  return {
    text: match,
    screen(emulator) {
      const { linesScrolled } = emulator;
      const shown = emulator.logicalText(linesScrolled - (seen ?? linesScrolled));
      seen = linesScrolled;
      return match(shown);
    },
  };
}

function compile(source: string): RegExp {
  try {
    return new RegExp(source, "m");
  } catch (error) {
    throw new TrlError("INVALID_PARAMS", `until.regex: ${(error as Error).message}`);
  }
}

// A screen as it can be asked for, live or as the last of a terminal that has ended.
import type { Emulator } from "./emulator.ts";

export interface ScreenView {
  lines(scrollback: number): string[];
  redraw(scrollback: number): string;
  cursor: { row: number; col: number; visible: boolean };
  title: string;
  isAlternate: boolean;
}

export const viewOf = (emulator: Emulator): ScreenView => ({
  lines: (scrollback) => emulator.lines(scrollback),
  redraw: (scrollback) => emulator.redraw(scrollback),
  cursor: emulator.cursor,
  title: emulator.title,
  isAlternate: emulator.isAlternate,
});

/** Of a long output's history, so many lines are kept after the end. */
const finalScrollback = 200;

/** Taken once, so that the emulator can go. */
export function finalView(emulator: Emulator): ScreenView {
  const { cursor, title, isAlternate, size } = emulator;
  const lines = emulator.lines(finalScrollback);
  const [screen, history] = [emulator.redraw(0), emulator.redraw(finalScrollback)];
  return {
    lines: (scrollback) => lines.slice(Math.max(0, lines.length - size.rows - scrollback)),
    redraw: (scrollback) => (scrollback > 0 ? history : screen),
    cursor,
    title,
    isAlternate,
  };
}

// Snapshots of a screen: of a live emulator, or of the final screen of an ended terminal.

import type { SnapshotFormat } from "../../../protocol/pty.ts";
import type { FinalScreenState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import type { Emulator } from "./emulator.ts";
import { resetSequence, styledRow } from "./row-painter.ts";

export interface ScreenView {
  lines(scrollback: number): string[];
  /** With SGR attributes, and no other sequences. */
  styledLines(scrollback: number): string[];
  redraw(scrollback: number): string;
  cursor: { row: number; col: number; visible: boolean };
  title: string;
  isAlternate: boolean;
}

export const viewOf = (emulator: Emulator): ScreenView => ({
  lines: (scrollback) => emulator.lines(scrollback),
  styledLines: (scrollback) => emulator.lines(scrollback, styledRow),
  redraw: (scrollback) => emulator.redraw(scrollback),
  cursor: emulator.cursor,
  title: emulator.title,
  isAlternate: emulator.isAlternate,
});

/** Lines of the history that are kept after the end. */
const finalScrollback = 200;

/** Taken once at the end, so that the emulator can be disposed of. */
export function finalScreen(emulator: Emulator): FinalScreenState {
  const { cursor, title, isAlternate, size } = emulator;
  return {
    rows: size.rows,
    lines: emulator.lines(finalScrollback),
    styled: emulator.lines(finalScrollback, styledRow),
    screen: emulator.redraw(0),
    history: emulator.redraw(finalScrollback),
    ...{ cursor, title, isAlternate },
  };
}

export function finalView(final: FinalScreenState): ScreenView {
  const { rows, lines, styled, screen, history, cursor, title, isAlternate } = final;
  const from = (scrollback: number) => Math.max(0, lines.length - rows - scrollback);
  return {
    lines: (scrollback) => lines.slice(from(scrollback)),
    styledLines: (scrollback) => styled.slice(from(scrollback)),
    redraw: (scrollback) => (scrollback > 0 ? history : screen),
    ...{ cursor, title, isAlternate },
  };
}

/** Replaces a screen that could not be read. */
export const blankScreen = ({ rows }: TerminalSize): FinalScreenState => ({
  rows,
  lines: Array.from({ length: rows }, () => ""),
  styled: Array.from({ length: rows }, () => ""),
  screen: resetSequence,
  history: resetSequence,
  cursor: { row: 0, col: 0, visible: true },
  title: "",
  isAlternate: false,
});

/** The screen in the requested format. */
export function snapshotOf(view: ScreenView, format: SnapshotFormat, scrollback: number) {
  const { cursor, title, isAlternate } = view;
  const lines = (isStyled: boolean) => (isStyled ? view.styledLines(scrollback) : view.lines(scrollback));
  const picture =
    format === "ansi" ? { data: view.redraw(scrollback) } : { lines: lines(format === "styled") };
  return { ...picture, cursor, title, alternate_screen: isAlternate };
}

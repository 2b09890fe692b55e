// What clients see of a terminal: the live screen while its output can be read again, and the final screen afterwards.
// Owned by the Terminal; owns the Screen, and one more for each wait that runs in quarantine.
import { TrlError } from "../../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../../protocol/pty.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { FinalScreenState, TerminalState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import type { OutputRing } from "../ring.ts";
import type { RestoredTerminal } from "../start-program.ts";
import { resetSequence } from "./row-painter.ts";
import { Screen } from "./screen.ts";
import type { Screens } from "./screens.ts";
import { firstSizeOf } from "./sizes.ts";
import { blankScreen, finalView, snapshotOf } from "./snapshot.ts";
import { NeedsBacktracking } from "./waits.ts";
import type { Pattern } from "./work.ts";

/** If a screen cannot be drawn, a client gets so much of the last output instead. */
const rawBytesMax = 16 * 1024;
const newline = 0x0a;

export interface Redraw {
  data: string;
  /** The output continues here. */
  offset: number;
}

interface Search {
  found: Promise<"text" | "regex">;
  /** Resolves when all output printed so far is searched. */
  caughtUp(): Promise<unknown>;
  stop(): void;
}

export class Picture {
  readonly #ring: OutputRing;
  readonly #screen: Screen;
  readonly #screens: Screens;
  #size: TerminalSize;
  /** Copies in the quarantine process, for expressions that need a backtracking engine. */
  readonly #copies = new Set<Screen>();
  /** Set after the end, unless a replay of the ring rebuilds the screen. */
  #final: FinalScreenState | undefined;
  #finishing: Promise<void> | undefined;

  constructor(
    ring: OutputRing,
    size: TerminalSize,
    screens: Screens,
    restored: RestoredTerminal | undefined,
    onReply: (text: string) => void,
  ) {
    const { screen, final } = restored?.state ?? {};
    this.#ring = ring;
    this.#size = size;
    this.#screens = screens;
    this.#screen = new Screen(ring, firstSizeOf(screen) ?? size, screens, onReply);
    if (screen) this.#screen.restore(screen, restored!.unpacking);
    this.#final = final;
  }

  /** Before an upgrade; to be called until `isPacked`. */
  preparePack(): void {
    if (!this.#final && !this.#finishing) this.#screen.preparePack();
  }

  get isPacked(): boolean {
    return this.#final !== undefined || (!this.#finishing && this.#screen.isPacked);
  }

  /** The upgrade was rolled back. */
  forgetPack(): void {
    this.#screen.forgetPack();
  }

  pack(packing: Packing): Pick<TerminalState, "screen" | "final"> {
    return this.#final ? { final: this.#final } : { screen: this.#screen.pack(packing) };
  }

  printed(chunk: Uint8Array, isAttended: boolean): void {
    this.#screen.printed(chunk, isAttended);
    for (const screen of this.#copies) screen.printed(chunk, true);
  }

  resized(size: TerminalSize): void {
    this.#size = size;
    this.#screen.resized(size);
    for (const screen of this.#copies) screen.resized(size);
  }

  async snapshot(format: SnapshotFormat, scrollback: number): Promise<Omit<Snapshot, "cols" | "rows">> {
    let failure = "";
    if (!this.#final) {
      try {
        const { answer, offset } = await this.#screen.ask({ kind: "shown", format, scrollback });
        return { ...answer, offset, screen_error: this.#screen.error };
      } catch (error) {
        // The program has ended and the screen is final, or the screen cannot be read.
        failure = (error as Error).message;
      }
    }
    const final = this.#final ?? this.#blank(failure);
    return {
      ...snapshotOf(finalView(final), format, scrollback),
      offset: this.#ring.end,
      screen_error: final.error,
    };
  }

  /** Sequences that bring a client's terminal of the same size to the same content. */
  async redraw(scrollback: number): Promise<Redraw> {
    if (!this.#final) {
      try {
        const { answer, offset } = await this.#screen.ask({ kind: "redraw", scrollback });
        return { data: answer, offset };
      } catch {
        // The screen cannot be read; the client's own terminal may read the output.
        if (!this.#final) return { data: resetSequence, offset: this.#rawStart() };
      }
    }
    return { data: finalView(this.#final).redraw(scrollback), offset: this.#ring.end };
  }

  /** Searches the screen as it is now and all later output. `stop` must be called in the end. */
  waitFor(pattern: Pattern): Search {
    if (this.#final) return this.#searchFinal(pattern);
    let search: Search | Promise<Search> = this.#searchIn(this.#screen, pattern);
    let isStopped = false;
    const found = search.found.catch(async (error: unknown) => {
      if (!(error instanceof NeedsBacktracking)) throw error;
      search = this.#copyToQuarantine().then((screen) => {
        const quarantined = this.#searchIn(screen, { ...pattern, mayBacktrack: true });
        if (isStopped) quarantined.stop();
        return quarantined;
      });
      return await (await search).found;
    });
    const stop = () => {
      isStopped = true;
      if (!(search instanceof Promise)) search.stop();
      else void search.then((quarantined) => quarantined.stop());
    };
    const caughtUp = async () => {
      if (!(search instanceof Promise)) await search.caughtUp();
      await (await search).caughtUp(); // `search` may have moved to quarantine meanwhile
    };
    return { found, caughtUp, stop };
  }

  #searchIn(screen: Screen, pattern: Pattern): Search {
    const { found, stop } = screen.waitFor(pattern);
    return {
      found,
      caughtUp: () => screen.caughtUp(),
      stop: () => {
        stop();
        if (this.#copies.delete(screen)) screen.dispose();
      },
    };
  }

  #searchFinal(pattern: Pattern): Search {
    const matched = this.#screens.match(finalView(this.#final!).lines(0).join("\n"), pattern);
    const found = matched.then((kind) => kind ?? new Promise<never>(() => {}));
    return { found, caughtUp: () => matched, stop() {} };
  }

  /** Copies the screen to the quarantine process, where a search cannot delay other screens. */
  async #copyToQuarantine(): Promise<Screen> {
    const { data, offset } = await this.redraw(0);
    if (this.#final) throw new TrlError("SESSION_NOT_FOUND", "the program of this terminal has ended");
    const { quarantine } = this.#screens;
    const screen = new Screen(this.#ring, this.#size, { usual: quarantine, quarantine }, () => {});
    screen.startFrom(Buffer.from(data), offset);
    this.#copies.add(screen);
    return screen;
  }

  /** The program has ended. */
  finish(): void {
    if (!this.#screen.canReplay) void this.condense();
  }

  /** Replaces the live screen with the final one. */
  condense(): Promise<void> {
    for (const screen of this.#copies) screen.dispose();
    this.#copies.clear();
    if (this.#final) return Promise.resolve();
    this.#finishing ??= this.#screen
      .ask({ kind: "final" })
      .then(
        ({ answer }) => ({ ...answer, error: this.#screen.error }),
        (error: Error) => this.#blank(error.message),
      )
      .then((final) => {
        this.#final = final;
        this.#finishing = undefined;
        this.#screen.dispose();
      });
    return this.#finishing;
  }

  /** The program has sent a terminal query, and the reply is not written yet. */
  get isAnswering(): boolean {
    return this.#screen.isAnswering;
  }

  /** Closes the emulator if it is idle. To be called periodically. */
  closeIdle(): void {
    this.#screen.closeIdle();
  }

  dispose(): void {
    for (const screen of [this.#screen, ...this.#copies]) screen.dispose();
  }

  #blank(failure: string): FinalScreenState {
    return { ...blankScreen(this.#size), error: this.#screen.error ?? failure };
  }

  /** The offset of a line's beginning near the end of the output. */
  #rawStart(): number {
    const { start, end } = this.#ring;
    const from = Math.max(start, end - rawBytesMax);
    return from === 0 ? 0 : from + this.#ring.copy(from).indexOf(newline) + 1;
  }
}

// What a terminal shows: its screen as long as it can be read, and the last of it afterwards.
import { TrlError } from "../../../protocol/errors.ts";
import type { Snapshot, SnapshotFormat } from "../../../protocol/pty.ts";
import type { Packing } from "../../../upgrade/schema/fields.ts";
import type { FinalScreenState, TerminalState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";
import type { OutputRing } from "../ring.ts";
import type { RestoredTerminal } from "../start-program.ts";
import { resetSequence } from "./reset-sequence.ts";
import { Screen } from "./screen.ts";
import type { Screens } from "./screens.ts";
import { firstSizeOf } from "./sizes.ts";
import { blankScreen, finalView, shown } from "./snapshot.ts";
import { NeedsBacktracking } from "./waits.ts";
import type { Pattern } from "./work.ts";

/** Where a screen cannot be drawn, a client gets so much of the last output instead. */
const rawBytesMax = 16 * 1024;
const newline = 0x0a;

export interface Redraw {
  data: string;
  /** Where the output goes on behind it. */
  offset: number;
}

interface Search {
  found: Promise<"text" | "regex">;
  /** Everything that is printed by now is looked through. */
  caughtUp(): Promise<unknown>;
  stop(): void;
}

export class Picture {
  readonly #ring: OutputRing;
  readonly #screen: Screen;
  readonly #screens: Screens;
  #size: TerminalSize;
  /** Copies, for waits that could take long. */
  readonly #apart = new Set<Screen>();
  /** The last screen, where it could not be made again from what is kept. */
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
    if (screen) this.#screen.takeOver(screen, restored!.unpacking);
    this.#final = final;
  }

  /** Before an upgrade. To be called until `isPacked`. */
  preparePack(): void {
    if (!this.#final && !this.#finishing) this.#screen.preparePack();
  }

  get isPacked(): boolean {
    return this.#final !== undefined || (!this.#finishing && this.#screen.isPacked);
  }

  /** The upgrade has not taken over. */
  forgetPack(): void {
    this.#screen.forgetPack();
  }

  pack(packing: Packing): Pick<TerminalState, "screen" | "final"> {
    return this.#final ? { final: this.#final } : { screen: this.#screen.pack(packing) };
  }

  printed(chunk: Uint8Array, isAttended: boolean): void {
    this.#screen.printed(chunk, isAttended);
    for (const screen of this.#apart) screen.printed(chunk, true);
  }

  resized(size: TerminalSize): void {
    this.#size = size;
    this.#screen.resized(size);
    for (const screen of this.#apart) screen.resized(size);
  }

  async snapshot(format: SnapshotFormat, scrollback: number): Promise<Omit<Snapshot, "cols" | "rows">> {
    let why = "";
    if (!this.#final) {
      try {
        const { answer, offset } = await this.#screen.ask({ kind: "shown", format, scrollback });
        return { ...answer, offset, screen_error: this.#screen.error };
      } catch (error) {
        // The program has ended and the screen is final, or the screen cannot be read.
        why = (error as Error).message;
      }
    }
    const final = this.#final ?? this.#blank(why);
    return {
      ...shown(finalView(final), format, scrollback),
      offset: this.#ring.end,
      screen_error: final.error,
    };
  }

  /** Written to a terminal of the same size, it shows the same. */
  async redraw(scrollback: number): Promise<Redraw> {
    if (!this.#final) {
      try {
        const { answer, offset } = await this.#screen.ask({ kind: "redraw", scrollback });
        return { data: answer, offset };
      } catch {
        // As above; but the client has a terminal of its own, which may read the output.
        if (!this.#final) return { data: resetSequence, offset: this.#rawStart() };
      }
    }
    return { data: finalView(this.#final).redraw(scrollback), offset: this.#ring.end };
  }

  /** Looks for a pattern from what is shown now on. `stop` must be called in the end. */
  waitFor(pattern: Pattern): Search {
    if (this.#final) return this.#searchFinal(pattern);
    let search: Search | Promise<Search> = this.#searchIn(this.#screen, pattern);
    let isStopped = false;
    const found = search.found.catch(async (error: unknown) => {
      if (!(error instanceof NeedsBacktracking)) throw error;
      search = this.#screenApart().then((screen) => {
        const apart = this.#searchIn(screen, { ...pattern, mayBacktrack: true });
        if (isStopped) apart.stop();
        return apart;
      });
      return await (await search).found;
    });
    const stop = () => {
      isStopped = true;
      if (!(search instanceof Promise)) search.stop();
      else void search.then((apart) => apart.stop());
    };
    const caughtUp = async () => {
      if (!(search instanceof Promise)) await search.caughtUp();
      await (await search).caughtUp(); // which may be another one by now
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
        if (this.#apart.delete(screen)) screen.dispose();
      },
    };
  }

  #searchFinal(pattern: Pattern): Search {
    const matched = this.#screens.match(finalView(this.#final!).lines(0).join("\n"), pattern);
    const found = matched.then((kind) => kind ?? new Promise<never>(() => {}));
    return { found, caughtUp: () => matched, stop() {} };
  }

  /** The same screen, in the process where it cannot delay others. */
  async #screenApart(): Promise<Screen> {
    const { data, offset } = await this.redraw(0);
    if (this.#final) throw new TrlError("SESSION_NOT_FOUND", "the program of this terminal has ended");
    const { quarantine } = this.#screens;
    const screen = new Screen(this.#ring, this.#size, { usual: quarantine, quarantine }, () => {});
    screen.beginWith(Buffer.from(data), offset);
    this.#apart.add(screen);
    return screen;
  }

  /** The program has ended. */
  finish(): void {
    if (!this.#screen.canForget) void this.condense();
  }

  /** Only the last screen is to be kept. */
  condense(): Promise<void> {
    for (const screen of this.#apart) screen.dispose();
    this.#apart.clear();
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

  /** The program has asked its terminal something, and the answer is on its way. */
  get isAnswering(): boolean {
    return this.#screen.isAnswering;
  }

  /** To be called now and then. */
  rest(): void {
    this.#screen.rest();
  }

  dispose(): void {
    for (const screen of [this.#screen, ...this.#apart]) screen.dispose();
  }

  #blank(why: string): FinalScreenState {
    return { ...blankScreen(this.#size), error: this.#screen.error ?? why };
  }

  /** The beginning of a line near the end. */
  #rawStart(): number {
    const { start, end } = this.#ring;
    const from = Math.max(start, end - rawBytesMax);
    return from === 0 ? 0 : from + this.#ring.copy(from).indexOf(newline) + 1;
  }
}

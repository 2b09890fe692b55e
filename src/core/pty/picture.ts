// What a terminal shows: its screen as long as it can be made, and the last of it afterwards.
import type { Packing } from "../../protocol/handover/pieces.ts";
import type { FinalScreenState, TerminalState } from "../../protocol/handover/terminals.ts";
import type { TerminalSize } from "./driver.ts";
import type { OutputRing } from "./output-ring.ts";
import { firstSizeOf, type Look, Screen } from "./screen.ts";
import { finalScreen, finalView, type ScreenView, viewOf } from "./snapshot.ts";
import type { Before } from "./start-program.ts";

export class Picture {
  readonly #ring: OutputRing;
  readonly #screen: Screen;
  /** The last screen, where it could not be made again from what is kept. */
  #final: FinalScreenState | undefined;

  constructor(
    ring: OutputRing,
    size: TerminalSize,
    before: Before | undefined,
    onReply: (text: string) => void,
  ) {
    const { screen, final } = before?.state ?? {};
    this.#ring = ring;
    this.#screen = new Screen(ring, firstSizeOf(screen) ?? size, onReply);
    if (screen) this.#screen.takeOver(screen, before!.given);
    this.#final = final;
  }

  pack(packing: Packing): Pick<TerminalState, "screen" | "final"> {
    return this.#final ? { final: this.#final } : { screen: this.#screen.pack(packing) };
  }

  printed(chunk: Uint8Array, isAttended: boolean): void {
    this.#screen.printed(chunk, isAttended);
  }

  resized(size: TerminalSize): void {
    this.#screen.resized(size);
  }

  /** Reads what has not been read yet; `look` sees the screen on the way and in the end. */
  look(look: Look): void {
    if (!this.#final) look(this.#screen.read(look));
  }

  /** The last screen, where the emulator is gone. */
  get finalText(): string | undefined {
    return this.#final && finalView(this.#final).lines(0).join("\n");
  }

  get view(): ScreenView {
    return this.#final ? finalView(this.#final) : viewOf(this.#screen.read());
  }

  /** Where the output goes on behind a redraw. */
  get boundary(): number {
    return this.#final ? this.#ring.end : this.#screen.boundary;
  }

  /** The program has ended. */
  finish(): void {
    if (!this.#screen.canForget) this.#final = finalScreen(this.#screen.read());
    if (this.#final) this.#screen.dispose();
  }

  /** Only the last screen is to be kept. */
  condense(): void {
    this.#final ??= finalScreen(this.#screen.read());
    this.#screen.dispose();
  }

  /** To be called now and then. True where memory was given back. */
  rest(): boolean {
    return this.#screen.rest();
  }
}

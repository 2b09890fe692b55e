// Where a client's terminal goes on behind a redraw: not in the middle of a sequence or a character.
import { endOfLastCharacter } from "../../process/stream-log.ts";
import type { OutputRing } from "../ring.ts";

/** A sequence that is longer is an image or the like, and where it began is unknown. */
const sequenceBytesMax = 4096;

export interface Boundary {
  /** If no sequence is half read, */
  between: number;
  /** and if one is. */
  within: number;
}

export function boundaryAt(ring: OutputRing, end: number): Boundary {
  const tail = ring.copy(Math.max(ring.start, end - sequenceBytesMax), end);
  const begun = tail.lastIndexOf(0x1b);
  const between = end - (tail.length - endOfLastCharacter(tail));
  return { between, within: begun === -1 ? end : end - tail.length + begun };
}

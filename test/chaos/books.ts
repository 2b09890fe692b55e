// What is asked and what came of it. At the end every request is in exactly one column.

export interface Figures {
  requests: number;
  /** Answered, once each. */
  answered: number;
  /** Their client was killed before the answer. */
  abandoned: number;
  /** The daemon was ended before the answer, and closed the connection. */
  cutOff: number;
  /** Bytes of output that were compared with what they must be. */
  bytes: number;
  frames: number;
  faults: Record<string, number>;
  steps: Record<string, number>;
  peakMemoryBytes: number;
  rounds: number;
}

export class Books {
  readonly figures: Figures = {
    requests: 0,
    answered: 0,
    abandoned: 0,
    cutOff: 0,
    bytes: 0,
    frames: 0,
    faults: {},
    steps: {},
    peakMemoryBytes: 0,
    rounds: 0,
  };
  readonly problems: string[] = [];
  /** The daemon has been asked to end: that a connection is closed, or a thing refused, says nothing any more. */
  isEnding = false;
  endingSince = 0;

  readonly #doing = new Map<string, string>();

  /** What somebody does now, to be told with what goes wrong. */
  begin(who: string, storm: string, n: number, step: string): void {
    this.#doing.set(who, `storm ${storm}, step ${n}, ${step}`);
    this.figures.steps[step] = (this.figures.steps[step] ?? 0) + 1;
  }

  /** The text begins with who has it. */
  problem(text: string): void {
    const who = /^[\w-]+/.exec(text)?.[0] ?? "";
    const doing = this.#doing.get(who);
    this.problems.push(`${text.slice(0, problemMax)}${doing ? ` [${doing}]` : ""}`);
  }

  fault(name: string): void {
    this.figures.faults[name] = (this.figures.faults[name] ?? 0) + 1;
  }

  /** Nothing is under way any more: what was asked is in one column each. */
  balance(): void {
    const { requests, answered, abandoned, cutOff } = this.figures;
    if (requests !== answered + abandoned + cutOff)
      this.problem(
        `${requests} requests, but ${answered} answered, ${abandoned} abandoned, ${cutOff} cut off`,
      );
  }
}

const problemMax = 2000;

export function figuresText(figures: Figures, seed: number, seconds: number): string {
  const total = (counts: Record<string, number>) =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  const { requests, answered, abandoned, cutOff, bytes, frames, peakMemoryBytes, rounds } = figures;
  const megabytes = (count: number) => `${(count / 1e6).toFixed(1)} MB`;
  return [
    `seed ${seed}, ${Math.round(seconds)} s, ${rounds} daemons`,
    `requests: ${requests}; answered once ${answered}, left by their client ${abandoned}, cut off by the end ${cutOff}`,
    `output compared: ${megabytes(bytes)} in ${frames} frames`,
    `faults: ${total(figures.faults)} (${list(figures.faults)})`,
    `steps: ${total(figures.steps)} (${list(figures.steps)})`,
    `most memory of a daemon: ${megabytes(peakMemoryBytes)}`,
  ].join("\n");
}

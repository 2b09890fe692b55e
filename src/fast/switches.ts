// Which accelerators are on: the variable TRL_FAST, for contributors and for support.

/** Names in TRL_FAST, in the order of README.md. */
export const acceleratorNames = [
  "warm-shells",
  "in-place",
  "direct-exec",
  "short-reports",
  "quick-check",
  "simd",
  "direct-read",
] as const;

export type AcceleratorName = (typeof acceleratorNames)[number];
export type FastSwitches = Readonly<Record<AcceleratorName, boolean>>;

export const fastVariable = "TRL_FAST";

/** `all`, `none`, or names to switch off, as `-simd,-in-place`. Throws where the text is anything else. */
export function parseFast(text = "all"): FastSwitches {
  if (text === "all" || text === "") return switchesWithout([]);
  if (text === "none") return switchesWithout(acceleratorNames);
  const off = text.split(",").map((word) => nameIn(word.trim(), text));
  return switchesWithout(off);
}

function nameIn(word: string, text: string): AcceleratorName {
  const name = acceleratorNames.find((known) => word === `-${known}`);
  if (name) return name;
  const known = acceleratorNames.map((each) => `-${each}`).join(", ");
  throw new Error(`${fastVariable} is all, none, or a list of ${known}, not "${text.slice(0, 200)}"`);
}

function switchesWithout(off: readonly AcceleratorName[]): FastSwitches {
  const switches = Object.fromEntries(acceleratorNames.map((name) => [name, !off.includes(name)]));
  // Only a warm shell can run a command in place.
  if (!switches["warm-shells"]) switches["in-place"] = false;
  return switches as unknown as FastSwitches;
}

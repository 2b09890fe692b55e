// Numbers and texts as people read them.

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** `8s`, `1m12s`, `3h04m`, `2d03h`: two units at most, and of one width as it grows. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < minute) return `${seconds}s`;
  if (seconds < hour) return `${Math.floor(seconds / minute)}m${two(seconds % minute)}s`;
  if (seconds < day) return `${Math.floor(seconds / hour)}h${two(Math.floor((seconds % hour) / minute))}m`;
  return `${Math.floor(seconds / day)}d${two(Math.floor((seconds % day) / hour))}h`;
}

const two = (count: number) => String(count).padStart(2, "0");

/** From a time of the daemon until another one, or until now. */
export const since = (from: string, until?: string | null, now = Date.now()): string =>
  duration((until ? Date.parse(until) : now) - Date.parse(from));

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** `0 B`, `812 B`, `1.2 kB`, `34 MB`: three digits at most. */
export function bytes(count: number): string {
  let value = Math.max(0, count);
  let unit = 0;
  // What would be rounded to 1000 is one of the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0);
  return `${digits} ${units[unit]}`;
}

/**
 * A name may hold anything, and must not write to the terminal what it likes: each run of such is one space. What
 * joins the parts of an emoji may stay.
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/(?:(?!\u200d)[\p{C}\p{Zl}\p{Zp}\s])+/gu, " ").trim();

/** Characters that act on a terminal or on the order of a text. What joins the parts of an emoji is none of them. */
export const acting = /(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A message may quote a name: only its line breaks act on the terminal. */
export const harmless = (text: string): string =>
  text.replaceAll(acting, (character) => (character === "\n" ? "\n" : " "));

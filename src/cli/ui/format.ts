// Formats durations, byte counts and untrusted text for people.

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

/** Time from one ISO timestamp to another, or to now. */
export const since = (from: string, until?: string | null, now = Date.now()): string =>
  duration((until ? Date.parse(until) : now) - Date.parse(from));

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** `0 B`, `812 B`, `1.2 kB`, `34 MB`: three digits at most. */
export function bytes(count: number): string {
  let value = Math.max(0, count);
  let unit = 0;
  // 999.5 would round to 1000, so it becomes 1.0 of the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0);
  return `${digits} ${units[unit]}`;
}

/**
 * Names are untrusted and may hold escape sequences: each run of control or space characters becomes one space. The
 * zero-width joiner stays, because emoji need it.
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/(?:(?!\u200d)[\p{C}\p{Zl}\p{Zp}\s])+/gu, " ").trim();

/** Characters that control a terminal or the direction of text, without the zero-width joiner. */
export const acting = /(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Messages quote untrusted names: of the control characters only line breaks stay. */
export const harmless = (text: string): string =>
  text.replaceAll(acting, (character) => (character === "\n" ? "\n" : " "));

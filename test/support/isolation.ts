// What the daemon says of isolation on this machine, and what it leaves there.
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import type { Isolation } from "../../src/protocol/isolation.ts";
import type { Wire } from "./wire.ts";

export type Ability = { available: true; by: string } | { available: false; reason: string; remedy: string };

export interface Abilities {
  cgroup: { available: boolean; version?: "v1" | "v2" };
  limits: Record<string, Ability>;
  root: Ability;
  sandbox: Ability;
}

export const abilitiesOf = async (wire: Wire): Promise<Abilities> =>
  (await wire.call("system.describe", {})).capabilities["isolation"] as Abilities;

/** What a machine cannot isolate is refused with the reason and the remedy, for sessions and terminals alike. */
export async function expectRefused(wire: Wire, isolation: Isolation, ability: Ability): Promise<void> {
  if (ability.available) throw new Error(`${JSON.stringify(isolation)} is available by ${ability.by}`);
  expect(ability).toEqual({ available: false, reason: expect.any(String), remedy: expect.any(String) });
  for (const method of ["session.create", "pty.create"]) {
    const { code, message } = await wire.fail(method, { isolation });
    expect(code).toBe("UNSUPPORTED");
    expect(message).toContain(ability.reason);
    expect(message).toContain(ability.remedy);
  }
}

/** The control groups that a daemon has made, wherever they are. */
export function cgroupsOf(daemonPid: number): string[] {
  const name = new RegExp(`^trl-${daemonPid}-\\d+(?:\\.daemon)?$`);
  const find = (directory: string, depth: number): string[] =>
    directoriesIn(directory).flatMap((entry) => {
      const path = `${directory}/${entry}`;
      return name.test(entry) ? [path] : depth > 0 ? find(path, depth - 1) : [];
    });
  return find("/sys/fs/cgroup", 8);
}

function directoriesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

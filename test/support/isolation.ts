// What the machine that runs the tests can do. Nothing is passed over: where it cannot, the daemon has to say so.
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

/** Does `act` where everything that `isolation` asks for is there; else checks that it is refused with reason and remedy. */
export async function whereAble(
  wire: Wire,
  isolation: Isolation,
  act: (isolation: Isolation) => Promise<void>,
): Promise<void> {
  const abilities = await abilitiesOf(wire);
  const needed = Object.keys(isolation.limits ?? {}).map((name) => abilities.limits[name]!);
  if (isolation.sandbox) needed.push(abilities.sandbox);
  else if (isolation.root) needed.push(abilities.root);
  const missing = needed.find((ability) => !ability.available);
  if (!missing) return act(isolation);
  for (const method of ["session.create", "pty.create"]) {
    const { code, message } = await wire.fail(method, { isolation });
    expect(code).toBe("UNSUPPORTED");
    if (!missing.available) {
      expect(message).toContain(missing.reason);
      expect(message).toContain(missing.remedy);
    }
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

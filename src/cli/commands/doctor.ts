// trl doctor: checks this machine and prints problems with their remedies.
import { type ArgsDef, defineCommand } from "citty";
import type { Paint, Tone } from "../../util/style.ts";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { socketArgs, socketPathFrom } from "../connection.ts";
import { type Check, type CheckReport, runChecks, type Status } from "../doctor/check.ts";
import { daemonChecks } from "../doctor/daemon.ts";
import { directoryChecks } from "../doctor/directories.ts";
import { darwinChecks } from "../doctor/platform-darwin.ts";
import { linuxChecks } from "../doctor/platform-linux.ts";
import { programChecks } from "../doctor/program.ts";
import { toolChecks } from "../doctor/tools.ts";
import { tryDaemon } from "../doctor/trial.ts";
import { stdoutPaint } from "../ui/paint.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";
import { hanging } from "../ui/wrap.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "doctor", description: "Look at what this machine can do, what is wrong, and how to fix it" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    const [looked, tried] = await Promise.all([runChecks(checksFor(socketPathFrom(given))), tryDaemon()]);
    const checks = inGroups([...looked, ...tried]);
    if (given.json) printJson({ checks });
    else print(page(checks, stdoutPaint()));
    process.exitCode = checks.some(({ status }) => status === "problem") ? 1 : 0;
  },
});

const checksFor = (socketPath: string): Check[] => [
  ...programChecks,
  ...daemonChecks(socketPath),
  ...directoryChecks(),
  ...(process.platform === "darwin" ? darwinChecks() : linuxChecks()),
  ...toolChecks,
];

const groupOrder = [
  "program",
  "daemon",
  "directories",
  "shells",
  "terminals",
  "limits",
  "isolation",
  "elsewhere",
  "service",
];

const inGroups = (checks: CheckReport[]) =>
  checks.toSorted((a, b) => groupOrder.indexOf(a.group) - groupOrder.indexOf(b.group));

const tones: Record<Status, Tone> = { ok: "green", note: "yellow", problem: "red" };
const width = "problem".length;

function page(checks: CheckReport[], paint: Paint): string {
  const lines = checks.flatMap(({ group, status, summary, detail, remedy }, i) => [
    ...(group === checks[i - 1]?.group ? [] : [`${i > 0 ? "\n" : ""}${paint("bold", group)}`]),
    `  ${paint(tones[status], status.padEnd(width))}  ${beside(summary)}`,
    ...(detail ? [paint("dim", below(detail))] : []),
    ...(remedy ? [below(`fix: ${remedy}`)] : []),
  ]);
  return `${lines.join("\n")}\n\n${verdict(checks, paint)}\n`;
}

const indent = 2 + width + 2;
/** Wraps only on a terminal; in a pipe each text stays on one line for grep. */
const beside = (text: string) => hanging(text, indent, process.stdout.columns || Number.POSITIVE_INFINITY);
const below = (text: string) => `${" ".repeat(indent)}${beside(text)}`;

function verdict(checks: CheckReport[], paint: Paint): string {
  const count = (status: Status) => checks.filter((check) => check.status === status).length;
  const some = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const notes = count("note") > 0 ? `, ${some(count("note"), "note")}` : "";
  if (count("problem") > 0) return paint("red", some(count("problem"), "problem")) + notes;
  return paint("green", "nothing is wrong") + notes;
}

// Renders help texts from the definitions that parse the command line.
import type { ArgsDef, CommandDef } from "citty";

export interface HelpPage {
  usage: string;
  about: string;
  commands?: [name: string, about: string][];
  args?: ArgsDef;
  examples?: string[];
  footer?: string;
}

export function renderHelp({
  usage,
  about,
  commands = [],
  args = {},
  examples = [],
  footer,
}: HelpPage): string {
  const rows = Object.entries(args).map(([name, arg]): [string, string] => [
    flagText(name, arg),
    arg.description ?? "",
  ]);
  return [
    about,
    `Usage: ${usage}`,
    section("Commands", commands),
    section("Flags", rows),
    examples.length > 0 ? `Examples:\n${examples.map((line) => `  ${line}`).join("\n")}` : "",
    footer ?? "",
  ]
    .filter(Boolean)
    .join("\n\n");
}

export async function aboutOf(command: CommandDef): Promise<string> {
  const meta = await (typeof command.meta === "function" ? command.meta() : command.meta);
  return meta?.description ?? "";
}

function flagText(name: string, arg: ArgsDef[string]): string {
  const names = [name, ...aliasesOf(arg)]
    .map((word) => (word.length === 1 ? `-${word}` : `--${word}`))
    .join(", ");
  if (arg.type === "boolean") return names;
  return `${names} ${arg.valueHint ?? "N"}`;
}

export const aliasesOf = (arg: ArgsDef[string]): string[] => [("alias" in arg && arg.alias) || []].flat();

function section(title: string, rows: [string, string][]): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([name]) => name.length));
  return `${title}:\n${rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join("\n")}`;
}

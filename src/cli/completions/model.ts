// The model of flags and operands that all shells complete, from the definitions that parse the command line.
import type { ArgsDef } from "citty";
import { methods } from "../../protocol/methods.ts";
import type { Verb } from "../commands.ts";
import { aboutOf, aliasesOf } from "../ui/help.ts";

/** What a flag or an operand accepts. */
export type Value =
  | { kind: "file" | "directory" | "sessions" | "terminals" | "anything" }
  | { kind: "words"; words: string[] };

export interface Flag {
  /** With dashes, the long one first. */
  spellings: string[];
  about: string;
  /** Undefined for a switch. */
  value: Value | undefined;
}

export interface VerbModel {
  name: string;
  about: string;
  flags: Flag[];
  operand: Value | undefined;
  /** True if the operand may be repeated. */
  takesMany: boolean;
  /** What comes after `--`. */
  rest: "command" | "serve-flags" | undefined;
}

export const modelOf = (verbs: Record<string, Verb>): Promise<VerbModel[]> =>
  Promise.all(Object.entries(verbs).map(([name, verb]) => verbModel(name, verb)));

async function verbModel(name: string, verb: Verb): Promise<VerbModel> {
  const command = await verb.load();
  const args = (await (typeof command.args === "function" ? command.args() : command.args)) as ArgsDef;
  // `trl VERB OPERAND... [FLAGS] -- REST...`, with brackets around optional words
  const [own = "", rest = ""] = verb.usage.split("--");
  return {
    name,
    about: await aboutOf(command),
    flags: [...Object.entries(args).map(([key, arg]) => flagOf(key, arg)), helpFlag],
    operand: operandIn(own, verb.names ?? "sessions"),
    takesMany: own.includes("..."),
    rest: restIn(rest),
  };
}

const helpFlag: Flag = { spellings: ["--help", "-h"], about: "Explain it", value: undefined };

function operandIn(usage: string, names: "sessions" | "terminals"): Value | undefined {
  const words = usage.split(" ").slice(2);
  const choices = words.find((word) => /^[a-z]+(?:\|[a-z]+)+$/.test(word));
  if (choices) return { kind: "words", words: choices.split("|") };
  if (words.includes("[METHOD]")) return { kind: "words", words: Object.keys(methods) };
  // [NAME] in brackets is a new name, which cannot be completed.
  return words.some((word) => /^NAME(?:\.\.\.)?$/.test(word)) ? { kind: names } : undefined;
}

function restIn(rest: string): VerbModel["rest"] {
  if (rest.includes("CMD")) return "command";
  return rest.includes("SERVE-FLAGS") ? "serve-flags" : undefined;
}

function flagOf(key: string, arg: ArgsDef[string]): Flag {
  const spellings = [key, ...aliasesOf(arg)].map((word) => (word.length === 1 ? `-${word}` : `--${word}`));
  const value = arg.type === "boolean" ? undefined : valueFor(arg.valueHint ?? "");
  return { spellings, about: arg.description ?? "", value };
}

function valueFor(hint: string): Value {
  if (hint.includes("|")) return { kind: "words", words: hint.split("|") };
  if (hint === "PATH" || hint === "FILE") return { kind: "file" };
  if (hint === "DIR") return { kind: "directory" };
  return hint === "NAME" ? { kind: "sessions" } : { kind: "anything" };
}

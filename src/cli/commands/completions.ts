// trl completions: prints the completion script of a shell.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags } from "../check-flags.ts";
import type { Verb } from "../commands.ts";
import { bashCompletion } from "../completions/bash.ts";
import { fishCompletion } from "../completions/fish.ts";
import { modelOf, type VerbModel } from "../completions/model.ts";
import { zshCompletion } from "../completions/zsh.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { jsonErrorArgs } from "../json-errors.ts";
import { print } from "../ui/print.ts";

const shells: Record<string, (verbs: VerbModel[]) => string> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const args = jsonErrorArgs satisfies ArgsDef;

/** Receives the table of verbs as a parameter, because the table imports this file. */
export const completionsOf = (verbs: Record<string, Verb>) =>
  defineCommand({
    meta: { name: "completions", description: "Print what makes a shell complete the words of trl" },
    args,
    async run({ args: given, rawArgs }) {
      checkFlags(rawArgs, args);
      const [shell = "", ...more] = given._;
      if (!Object.hasOwn(shells, shell) || more.length > 0) {
        const hint = `trl completions ${Object.keys(shells).join("|")}`;
        throw new CliError(
          shell ? `there is no completion for "${given._.join(" ")}"` : "for which shell?",
          usageExitCode,
          hint,
        );
      }
      print(shells[shell]!(await modelOf(verbs)));
    },
  });

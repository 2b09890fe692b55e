// Completion for fish 3 and newer.
import type { Flag, Value, VerbModel } from "./model.ts";
import { namesPipeline } from "./names.ts";

export function fishCompletion(verbs: VerbModel[]): string {
  const names = verbs.map(({ name }) => name);
  const withCommand = verbs.filter(({ rest }) => rest === "command").map(({ name }) => name);
  return `# Completion of trl for fish, written by "trl completions fish".

# The flags that say where the daemon is, as they were given.
function __trl_socket
    set -l words (commandline -opc)
    for i in (seq (count $words))
        switch $words[$i]
            case --socket-path --socket --socket-dir
                set -q words[(math $i + 1)]; and printf '%s\\n' $words[$i] $words[(math $i + 1)]
            case '--socket-path=*' '--socket=*' '--socket-dir=*'
                printf '%s\\n' $words[$i]
            case --
                return
        end
    end
end

function __trl_sessions
    ${namesPipeline("trl ls --json (__trl_socket)", "sessions")}
end

function __trl_terminals
    ${namesPipeline("trl ls --json (__trl_socket)", "terminals")}
end

function __trl_needs_verb
    test (count (commandline -opc)) -eq 1
end

# Is $argv[1] the verb, before any --? Flags alone mean serve.
function __trl_is
    set -l words (commandline -opc)
    contains -- -- $words; and return 1
    set -l verb $words[2]
    if string match -q -- '-*' "$verb"; or test (count $words) -eq 1
        set verb serve
    end
    test "$verb" = $argv[1]
end

# Is it behind the -- of one of these verbs?
function __trl_is_behind
    set -l words (commandline -opc)
    contains -- -- $words; and contains -- $words[2] $argv
end

function __trl_command
    set -l words (commandline -opc)
    set -l first (math (contains -i -- -- $words) + 1)
    set -l given
    test (count $words) -ge $first; and set given (string escape -- $words[$first..-1])
    complete -C "$given "(commandline -ct)
end

complete -c trl -f
${verbs.map(({ name, about }) => `complete -c trl -n __trl_needs_verb -a ${name} -d ${quoted(about)}`).join("\n")}
complete -c trl -n __trl_needs_verb -a help -d 'Explain a command'
complete -c trl -n '__trl_is help' -a ${quoted(names.join(" "))}
complete -c trl -n ${quoted(`__trl_is_behind ${withCommand.join(" ")}`)} -a '(__trl_command)'
${verbs
  .filter(({ rest }) => rest === "serve-flags")
  .map((verb) => behindLine(verb, verbs))
  .join("\n")}
${verbs.flatMap(verbLines).join("\n")}
`;
}

/** Offered as words, because fish completes no flags after `--`. */
function behindLine({ name }: VerbModel, verbs: VerbModel[]): string {
  const serve = verbs.find((verb) => verb.name === "serve")!;
  const words = serve.flags.flatMap(({ spellings }) => spellings.filter((it) => it.startsWith("--")));
  return `complete -c trl -n '__trl_is_behind ${name}' -a ${quoted(words.join(" "))}`;
}

const verbLines = (verb: VerbModel): string[] => [
  ...verb.flags.map((flag) => flagLine(verb.name, flag)),
  ...(verb.operand ? [operandLine(verb.name, verb.operand)] : []),
];

function flagLine(verb: string, { spellings, about, value }: Flag): string {
  const names = spellings.map((it) => (it.startsWith("--") ? `-l ${it.slice(2)}` : `-s ${it.slice(1)}`));
  const taken = value ? ` ${flagValue(value)}` : "";
  return `complete -c trl -n '__trl_is ${verb}' ${names.join(" ")}${taken} -d ${quoted(about)}`;
}

function flagValue(value: Value): string {
  if (value.kind === "file") return "-r -F";
  return value.kind === "anything" ? "-x" : `-x -a ${quoted(offered(value))}`;
}

/** A choice among words is offered until one of them is given. */
function operandLine(verb: string, operand: Value): string {
  const once =
    operand.kind === "words" ? `; and not __fish_seen_subcommand_from ${operand.words.join(" ")}` : "";
  return `complete -c trl -n ${quoted(`__trl_is ${verb}${once}`)} -a ${quoted(offered(operand))}`;
}

function offered(value: Value): string {
  switch (value.kind) {
    case "words":
      return value.words.join(" ");
    case "sessions":
      return "(__trl_sessions)";
    case "terminals":
      return "(__trl_terminals)";
    case "directory":
      return "(__fish_complete_directories)";
    default:
      return "";
  }
}

const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;

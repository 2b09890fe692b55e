// Completion for zsh: as a file _trl in a directory of $fpath, or read by `source`.
import { quoteWord } from "../shell-words.ts";
import type { Flag, Value, VerbModel } from "./model.ts";
import { namesPipeline } from "./names.ts";

export function zshCompletion(verbs: VerbModel[]): string {
  const serve = verbs.find(({ name }) => name === "serve")!;
  return `#compdef trl
# Completion of trl for zsh, written by "trl completions zsh".

_trl_sessions() {
  local -a names
  names=(\${(f)"$(${namesPipeline("trl ls --json $_trl_socket", "sessions")})"})
  (( $#names )) && compadd "$@" -a names
}

_trl_terminals() {
  local -a names
  names=(\${(f)"$(${namesPipeline("trl ls --json $_trl_socket", "terminals")})"})
  (( $#names )) && compadd "$@" -a names
}

_trl_verbs() {
  local -a verbs
  verbs=(
${verbs.map(({ name, about }) => `    ${quoteWord(`${name}:${escapeColons(about)}`)}`).join("\n")}
  )
  _describe -t commands command verbs
}

_trl_serve_flags() {
  _arguments \\
${specs(serve)}
}

_trl() {
  local verb=$words[2] separator=\${words[(I)--]} at
  local -a _trl_socket
  at=\${words[(I)--socket(|-path|-dir)]}
  (( at && at < CURRENT - 1 )) && _trl_socket=($words[at] \${(Q)words[at+1]})
  if (( CURRENT == 2 )) && [[ $verb != -* ]]; then
    _trl_verbs
    return
  fi
  if [[ $verb == help ]]; then
    (( CURRENT == 3 )) && _trl_verbs
    return
  fi
  if [[ $verb == -* ]]; then
    _trl_serve_flags
    return
  fi
  if (( separator && separator < CURRENT )); then
    case $verb in
${verbs.flatMap(restLines).join("\n")}
    esac
    return
  fi
  shift words
  (( CURRENT-- ))
  case $verb in
${verbs.map((verb) => `    ${verb.name})\n      _arguments \\\n${specs(verb)} ;;`).join("\n")}
  esac
}

# Autoloaded from $fpath it completes; sourced it only registers itself.
if [[ $funcstack[1] == _trl ]]; then
  _trl "$@"
else
  compdef _trl trl
fi
`;
}

function restLines({ name, rest }: VerbModel): string[] {
  if (rest === "command")
    return [
      `      ${name})`,
      "        words=($words[separator+1,-1])",
      "        (( CURRENT -= separator ))",
      "        if (( CURRENT == 1 )); then _command_names -e; else _normal; fi ;;",
    ];
  if (rest === undefined) return [];
  return [
    `      ${name})`,
    "        words=(trl $words[separator+1,-1])",
    "        (( CURRENT -= separator - 1 ))",
    "        _trl_serve_flags ;;",
  ];
}

function specs(verb: VerbModel): string {
  const operand = verb.operand
    ? [quoteWord(`${verb.takesMany ? "*" : "1"}:${what(verb.operand)}:${action(verb.operand)}`)]
    : [];
  return [...verb.flags.flatMap(flagSpecs), ...operand].map((spec) => `        ${spec}`).join(" \\\n");
}

/** The spellings of a flag exclude each other. */
function flagSpecs({ spellings, about, value }: Flag): string[] {
  return spellings.map((spelling) => {
    const isLong = spelling.startsWith("--");
    const joint = value && isLong ? "=" : "";
    const taken = value ? `:${what(value)}:${action(value)}` : "";
    const text = about.replaceAll(/[\\[\]]/g, "\\$&");
    return quoteWord(`(${spellings.join(" ")})${spelling}${joint}[${text}]${taken}`);
  });
}

const what = ({ kind }: Value) =>
  kind === "words" ? "which" : kind === "sessions" || kind === "terminals" ? "name" : kind;

function action(value: Value): string {
  switch (value.kind) {
    case "file":
      return "_files";
    case "directory":
      return "_files -/";
    case "sessions":
      return "_trl_sessions";
    case "terminals":
      return "_trl_terminals";
    case "words":
      return `(${value.words.join(" ")})`;
    case "anything":
      return " ";
  }
}

const escapeColons = (text: string) => text.replaceAll(/[\\:]/g, "\\$&");

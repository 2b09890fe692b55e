// Completion for bash 3.2 (macOS) and newer; does not need the bash-completion package.
import { quoteWord, quoteWords } from "../shell-words.ts";
import type { Value, VerbModel } from "./model.ts";
import { namesPipeline } from "./names.ts";

export function bashCompletion(verbs: VerbModel[]): string {
  const names = verbs.map(({ name }) => name);
  return `# Completion of trl for bash, written by "trl completions bash".

_trl_sessions() { ${namesPipeline('trl ls --json "$@"', "sessions")}; }
_trl_terminals() { ${namesPipeline('trl ls --json "$@"', "terminals")}; }

# The flags of verb $1.
_trl_flags() {
  case $1 in
${verbs.map(({ name, flags }) => `    ${name}) echo ${quoteWords(flags.flatMap((it) => it.spellings))} ;;`).join("\n")}
  esac
}

# What flag $2 of verb $1 takes; fails where it takes nothing.
_trl_value() {
  case "$1 $2" in
${verbs.flatMap(valueLines).join("\n")}
    *) return 1 ;;
  esac
}

# What verb $1 takes, when it has $2 operands already.
_trl_operand() {
  case "$1 $2" in
${verbs.flatMap(operandLines).join("\n")}
  esac
}

# What verb $1 takes after --.
_trl_rest() {
  case $1 in
${verbs
  .filter(({ rest }) => rest)
  .map(({ name, rest }) => `    ${name}) echo ${rest} ;;`)
  .join("\n")}
  esac
}

${offer}
${main(names)}
complete -F _trl trl
`;
}

const valueText = (value: Value) =>
  quoteWord(value.kind === "words" ? `words ${value.words.join(" ")}` : value.kind);

const valueLines = ({ name, flags }: VerbModel) =>
  flags.flatMap(({ spellings, value }) =>
    value ? [`    ${spellings.map((it) => `"${name} ${it}"`).join(" | ")}) echo ${valueText(value)} ;;`] : [],
  );

const operandLines = ({ name, operand, takesMany }: VerbModel) =>
  operand ? [`    ${takesMany ? `"${name} "*` : `"${name} 0"`}) echo ${valueText(operand)} ;;`] : [];

const offer = `# $1 says what is wanted; the word so far is in cur.
_trl_offer() {
  local IFS=$'\\n'
  case $1 in
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    directory) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    sessions) COMPREPLY=($(compgen -W "$(_trl_sessions "\${socket[@]}")" -- "$cur")) ;;
    terminals) COMPREPLY=($(compgen -W "$(_trl_terminals "\${socket[@]}")" -- "$cur")) ;;
    program) COMPREPLY=($(compgen -c -- "$cur")) ;;
    "words "*) IFS=$' \\n'; COMPREPLY=($(compgen -W "\${1#words }" -- "$cur")) ;;
  esac
}
`;

const main = (names: string[]) => `_trl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} flag= verb=\${COMP_WORDS[1]} word i=2 operands=0
  local -a socket
  socket=()
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then
    _trl_offer ${quoteWord(`words ${[...names, "help", "version"].join(" ")}`)}
    return
  fi
  if [[ $verb == help ]]; then
    [[ $COMP_CWORD -eq 2 ]] && _trl_offer ${quoteWord(`words ${names.join(" ")}`)}
    return
  fi
  # Flags alone mean serve.
  if [[ $verb == -* ]]; then verb=serve i=1; fi
  for ((; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]} flag=
    if [[ $word == -- ]]; then
      case $(_trl_rest "$verb") in
        command) if ((i == COMP_CWORD - 1)); then _trl_offer program; else _trl_offer file; fi; return ;;
        serve-flags) verb=serve operands=0 ;;
        *) return ;;
      esac
    elif [[ $word == -* ]]; then
      _trl_value "$verb" "$word" >/dev/null || continue
      flag=$word
      # --flag=value comes in three words.
      [[ \${COMP_WORDS[i + 1]} == "=" ]] && ((i++))
      ((++i < COMP_CWORD)) || break
      case $flag in --socket-path | --socket | --socket-dir) socket=("$flag" "\${COMP_WORDS[i]}") ;; esac
      flag=
    else
      ((operands++))
    fi
  done
  [[ $cur == "=" ]] && cur=
  if [[ -n $flag ]]; then
    _trl_offer "$(_trl_value "$verb" "$flag")"
  elif [[ $cur == -* ]]; then
    _trl_offer "words $(_trl_flags "$verb")"
  else
    word=$(_trl_operand "$verb" "$operands")
    _trl_offer "\${word:-words $(_trl_flags "$verb")}"
  fi
}
`;

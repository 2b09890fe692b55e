# Startup program of a zsh, the .zshenv of a private ZDOTDIR: it defines the state report, restores the session's state
# from descriptor 3, and reads the command's prologue from descriptor 4. The command itself is the script file that zsh
# runs afterwards. shell-program.ts drops comments, blank lines and indentation; lines of a string begin at column 1.
unset ZDOTDIR
__trl_done=1
__trl_on0=(${(k)options[(R)on]})

# Writes the report: fields that end with a NUL; zsh.ts reads them.
__trl_write() {
  # Drops the user's signal handlers in the subshell that writes the report. Handlers that are functions disappear by
  # this, so __trl_kept reports them.
  __trl_kept=
  for __trl_name in $__trl_handled; do
    (( ! ${+functions[TRAP$__trl_name]} )) || __trl_kept+="TRAP$__trl_name () {
${functions[TRAP$__trl_name]}
}
"
    case $__trl_name in CHLD|ZERR|DEBUG) builtin trap - $__trl_name;; *) builtin trap '' $__trl_name;; esac
  done
  builtin printf '\0'

  # Variables of this command only (__trl_env: number, name, ...) get their values from before it. One that the command
  # made readonly stays; __trl_before appends its saved record, and __trl_gone hides it if it did not exist.
  __trl_constant=() __trl_gone=() __trl_before=
  for __trl_at __trl_name in $__trl_env; do
    __trl_saved=@ENV_FILE@.$__trl_at
    if [[ ${parameters[$__trl_name]-} != *readonly* ]]; then
      builtin unset -v $__trl_name
      builtin source $__trl_saved
    else
      __trl_constant+=($__trl_name)
      __trl_before+=$(<$__trl_saved)$'\n'
      [[ -s $__trl_saved ]] || __trl_gone+=($__trl_name)
    fi
  done

  # Fields 1 to 6: directory, previous directory, options at the start and now, all names, exported names.
  builtin pwd
  builtin printf '\0%s\0%s\0%s\0' "${OLDPWD-}" "${(j.:.)__trl_on0}" "${(j.:.)__trl_on}"
  builtin print -rl -- ${${(k)parameters}:|__trl_gone}
  builtin printf '\0'
  builtin print -rl -- ${${(k)parameters[(R)*export*]}:|__trl_gone}
  builtin printf '\0'

  # Field 7: variables. The first list also has the special parameters of zsh that the user sets.
  __trl_names=(${(k)parameters[(R)^*(special|hide|undefined)*]} ${(k)parameters[(I)(PATH|HOME|IFS|CDPATH|FPATH|MANPATH|FIGNORE|TERM|TERMINFO|LANG|LC_ALL|LC_COLLATE|LC_CTYPE|LC_MESSAGES|LC_NUMERIC|LC_TIME|NULLCMD|READNULLCMD|PS1|PS2|PS3|PS4|WORDCHARS|HISTSIZE|SAVEHIST|OPTIND|ZDOTDIR)]})
  __trl_names=(${${__trl_names:#__trl_*}:#(_|TRL_COMMAND_ID|PWD|OLDPWD|signals|zshexit_functions|ZSH_*|TTY|VENDOR|MACHTYPE|OSTYPE|CPUTYPE|HOST|LOGNAME)})
  builtin typeset -p -- ${__trl_names:|__trl_constant}
  builtin print -r -- "$__trl_before"
  (( ${+PATH} )) || builtin print unset PATH
  (( ${+HOME} )) || builtin print unset HOME

  # Fields 8 to 10: directory stack; aliases and umask; functions.
  builtin printf '\0'
  (( ${#dirstack} == 0 )) || builtin print -r -- "dirstack=( ${(@qq)dirstack} )"
  builtin printf '\0'
  builtin alias -L
  builtin print -r -- umask $(builtin umask)
  builtin printf '\0'
  __trl_names=(${(k)functions:#__trl_*})
  (( ${#__trl_names} == 0 )) || builtin functions $__trl_names
  builtin print -r -- "$__trl_kept"
  builtin printf '\0whole'
}

# The user's signal handlers must not run in the process that writes the report: their output would end up in it, and
# their changes would be reported by half. zsh cannot ignore a signal that has a handler without a moment in which the
# signal would end the shell. So if there are handlers, a subshell writes the report, and the shell runs its handlers
# as always. The report file first takes the list of traps: the last line of each handler names its signal.
__trl_report() {
  [[ -z ${__trl_done-} ]] || builtin return 0
  __trl_on=(${(k)options[(R)on]})
  builtin emulate -L zsh
  builtin setopt extended_glob
  builtin unsetopt xtrace verbose err_exit err_return
  builtin trap '' XFSZ
  builtin trap >| @REPORT_FILE@
  __trl_names=(${${(f)"$(<@REPORT_FILE@)"}##* } ${${(k)functions[(I)TRAP*]}#TRAP})
  __trl_handled=(${${signals:#(EXIT|XFSZ)}:*__trl_names})
  if (( ${#__trl_handled} )); then ( __trl_write ) >| @REPORT_FILE@
  else __trl_write >| @REPORT_FILE@
  fi
  __trl_done=1
}

# Two hooks: `set -e` reaches the EXIT trap, and no trap of the user replaces zshexit_functions.
__trl_hook() { { __trl_report } >/dev/null 2>&1 }
zshexit_functions=(__trl_hook)
trap '{ (( FUNCNEST > 9 )) || FUNCNEST=500; __trl_report } >/dev/null 2>&1' EXIT

# The state script arrives here. It clears __trl_astray once the shell is in the session's directory.
__trl_astray=1
. /dev/fd/3 >/dev/null 2>&1

# The prologue of the command.
builtin . /dev/fd/4

# shellcheck shell=bash
# The state report of a bash, a part of boot.sh, called by the EXIT trap as: __trl_report STATUS ARGUMENT... It writes fields that end with a NUL to
# the report file; report.ts reads them. Flags that the prologue sets:
#   __trl_env, __trl_functions  names of the variables and functions that only this command got
#   __trl_hides_builtin         the command may define a function named `builtin`
#   __trl_wraps_trap            trap-wrapper.sh is loaded, because the command may set an EXIT trap of its own
#   __trl_stacks, __trl_lines   the report includes the directory stack, the line numbers of functions
#
# shellcheck disable=SC2030,SC2031 # the subshell that writes the report changes its own copies on purpose
# shellcheck disable=SC2154 # boot.sh assigns __trl_shopt0
# shellcheck disable=SC2317,SC2329 # the EXIT trap calls __trl_report
__trl_report() {
  if [[ -z ${__trl_forked-} ]]; then
    # A child that a signal ends before its exec runs the EXIT trap as well. Only the shell itself writes a report.
    [[ ${BASHPID-$$} == "$$" ]] || builtin return "$1"
    [[ -z ${__trl_done-} ]] || builtin return "$1"
    __trl_done=1
    __trl_set=$SHELLOPTS __trl_shopt=${BASHOPTS-}
    # In posix mode special builtins win over functions, so `unset` reaches the builtin.
    if [[ -n ${__trl_hides_builtin-} ]]; then
      [[ :$SHELLOPTS: == *:posix:* ]] || POSIXLY_CORRECT=
      unset -f builtin
    fi
    builtin set +aeuvxfkTE
    # bash before 4.0 has no BASHPID.
    # shellcheck disable=SC2016 # for /bin/sh
    [[ $BASH_VERSION != [1-3].* || $(\builtin exec /bin/sh -c 'echo "$PPID"') == "$$" ]] || builtin return "$1"
    if [[ :$SHELLOPTS: == *:posix:* ]]; then builtin set +o posix; builtin unset -v POSIXLY_CORRECT; fi
    [[ -z ${__trl_wraps_trap-} ]] || builtin unset -f trap
    builtin trap '' XFSZ
    # With functrace or errtrace, functions inherit these traps: they would run for each line of the report.
    [[ :$__trl_set: != *:functrace:* && :$__trl_set: != *:errtrace:* ]] || builtin trap - DEBUG ERR RETURN
    [[ -z ${__trl_stacks-} ]] || __trl_stack=("${DIRSTACK[@]}")
  fi
  {
    if [[ -z ${__trl_forked-} ]]; then
      # The user's signal handlers must not run during the report: their output would end up in it, and their changes
      # would be reported by half. They are ignored rather than reset, because a reset signal would end the shell. The
      # handler on CHLD becomes a blank: ignoring CHLD loses the status of children, and bash crashes if a child has
      # ended and the handler has not run for it yet. Few shells have handlers, so the first list goes to the report
      # file, before the first field, where report.ts skips it; only if it is not empty is it written to the handlers
      # file. The last line of each handler names its signal. A line inside of a handler that looks the same has an
      # escaped quote.
      builtin trap -p @SIGNALS@
      if [[ -s @REPORT_FILE@ ]]; then
        builtin trap -p @SIGNALS@ >|@HANDLERS_FILE@
        while IFS= builtin read -r __trl_line; do
          case $__trl_line in
          *"'\\'' SIG${__trl_line##*"' SIG"}") ;;
          *"' SIGCHLD") builtin trap ' ' CHLD;;
          *"' SIG"*) builtin trap '' "SIG${__trl_line##*"' SIG"}";;
          esac
        done <@HANDLERS_FILE@
      fi
      # The report contains the variables of this command as they were before it, but the user's EXIT handler, which
      # runs after the report, needs them as they are. So a subshell writes the report, by a recursive call that
      # FUNCNEST must allow.
      if [[ -n ${__trl_env+x} && -n ${__trl_wraps_trap-} ]]; then
        ( __trl_forked=1; (( ${FUNCNEST:-0} < 1 || FUNCNEST > 9 )) || { __trl_nest=$FUNCNEST FUNCNEST=; }; __trl_report "$@" )
        # Restores the handlers for the user's EXIT handler. The list is read without aliases; the EXIT handler may
        # use them.
        if [[ -s @HANDLERS_FILE@ ]]; then
          builtin shopt -q expand_aliases; __trl_i=$?
          builtin shopt -u expand_aliases
          builtin . @HANDLERS_FILE@
          (( __trl_i )) || builtin shopt -s expand_aliases
        fi
        __trl_report() { builtin return "$1"; }
        builtin return "$1"
      fi
    fi
    [[ -z ${__trl_nest-} ]] || FUNCNEST=$__trl_nest

    # Fields 1 to 6: directory, previous directory, `set` options, `shopt` options at the start and now, and
    # `shopt -p` for a bash without BASHOPTS.
    builtin printf '\0'
    builtin pwd
    builtin printf '\0%s\0%s\0%s\0%s\0' "${OLDPWD-}" "$__trl_set" "$__trl_shopt0" "$__trl_shopt"
    [[ -n $__trl_shopt ]] || builtin shopt -p

    # The variables and functions of this command get their values from before it. The loop also removes local
    # variables of the same name that functions have put above. A variable that the command made readonly cannot be
    # unset: __trl_saved appends its saved record to the list. Never two command substitutions in one word: bash
    # misparses if a CHLD handler runs between them.
    if [[ -n ${__trl_env+x} ]]; then
      builtin shopt -u expand_aliases
      for __trl_name in "${__trl_env[@]}"; do
        for ((__trl_i = 0; __trl_i < 100; __trl_i++)); do
          # bash 4.3 unsets a function where the variable is no reference.
          [[ $BASH_VERSION == 4.3.* ]] && ! builtin test -R "$__trl_name" || builtin unset -n "$__trl_name" || [[ $BASH_VERSION == [1-3].* || $BASH_VERSION == 4.[0-2].* ]] || { __trl_saved=1; builtin break; }
          builtin unset -v "$__trl_name" || { __trl_saved=1; builtin break; }
          [[ -n ${!__trl_name+x} ]] || builtin break
        done
      done
      [[ -z ${__trl_functions+x} ]] || builtin unset -f "${__trl_functions[@]}"
      # The saved records begin with `declare`, so a function of that name steps aside while they are read.
      # shellcheck disable=SC2316 # `declare` is the name of the function here
      if builtin declare -F declare >/dev/null; then
        __trl_declare=$(builtin declare -f declare)$'\n'
        __trl_declare+="builtin $(builtin declare -pF declare)"
        builtin unset -f declare
      fi
      builtin . @ENV_FILE@
      [[ -z ${__trl_declare-} ]] || builtin eval "$__trl_declare" >/dev/null
    fi

    # Field 7: variables, without those that differ for every command, so that equal states give equal reports.
    builtin unset -v BASH_COMMAND BASHPID LINENO HISTCMD TRL_COMMAND_ID __trl_env
    builtin printf '\0'
    case $BASH_VERSION in
    [1-3].*)
      # Without names it lists assignments, as `set` does.
      for __trl_name in a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z _; do
        builtin eval "__trl_names=(\"\${!$__trl_name@}\")"
        [[ ${#__trl_names[@]} == 0 ]] || builtin declare -p "${__trl_names[@]}"
      done;;
    *) builtin declare -p;;
    esac
    [[ -z ${__trl_saved-} || ! -s @ENV_FILE@ ]] || builtin printf '%s\n' "$(<@ENV_FILE@)"

    # Field 8: aliases, umask, positional parameters (unless a function's are in effect) and directory stack.
    builtin printf '\0'
    builtin alias -p
    builtin umask -p
    if (( $# > 1 && ${#FUNCNAME[@]} <= 2 + ${__trl_forked:-0} )); then builtin printf 'builtin set --'; builtin printf ' %q' "${@:2}"; builtin printf '\n'; fi
    for ((__trl_i = ${#__trl_stack[@]} - 1; __trl_i > 0; __trl_i--)); do
      builtin printf 'builtin pushd -n -- %q\n' "${__trl_stack[__trl_i]}"
    done

    # Field 9: functions. Field 10: names of exported functions, then with extdebug "name line file" of each function.
    builtin printf '\0'
    builtin unset -f __trl_report
    builtin declare -f
    builtin printf '\0'
    builtin declare -Fx
    if [[ -n ${__trl_lines-} && $BASH_VERSION != [1-3].* ]]; then
      builtin declare -F >|@FUNCTIONS_FILE@
      builtin mapfile -t __trl_names <@FUNCTIONS_FILE@
      builtin shopt -s extdebug
      builtin declare -F "${__trl_names[@]##* }"
      builtin shopt -u extdebug
    fi
    builtin printf '\0whole'
  } >|@REPORT_FILE@
  # The same lines as above: the user's EXIT handler runs next.
  if [[ -n ${__trl_wraps_trap-} && -z ${__trl_forked-} ]]; then
    if [[ -s @HANDLERS_FILE@ ]]; then
      builtin shopt -q expand_aliases; __trl_i=$?
      builtin shopt -u expand_aliases
      builtin . @HANDLERS_FILE@
      (( __trl_i )) || builtin shopt -s expand_aliases
    fi
  fi
  __trl_report() { builtin return "$1"; }
  builtin return "$1"
}
trap '@HOOK@' EXIT

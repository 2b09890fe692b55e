# shellcheck shell=sh
# Part of the prologue of a command that may set an EXIT trap. It keeps the report's hook in front of the user's EXIT
# handler, as bash/trap-wrapper.sh does, but by an alias: these shells find special builtins before functions.
# shellcheck disable=SC2064 # "$@" is the user's call of `trap`, passed on; the string has escaped what expands later
__trl_wraps_trap=1

# Whether the arguments of `trap` name EXIT.
__trl_is_for_exit() {
  [ "${1-}" != -- ] || shift
  [ $# -le 1 ] || shift
  for __trl_name do case $__trl_name in 0|[Ee][Xx][Ii][Tt]) return 0;; esac; done
  return 1
}

# A subshell, which has another process id than $$, reports nothing: its traps stay as the user set them.
__trl_trap() {
  __trl_is_for_exit "$@" || { trap "$@"; return; }
  [ "$(exec /bin/sh -c 'echo $PPID')" = $$ ] || { trap "$@"; return; }
  trap "$@" || return
  [ "$1" != -- ] || shift
  if [ "$1" = - ] || [ $# = 1 ]; then trap '{ __trl_report "$?"; } >/dev/null 2>&1' EXIT; else trap "{ __trl_report \"\$?\"; } >/dev/null 2>&1
$1" EXIT; fi
}
alias trap=__trl_trap

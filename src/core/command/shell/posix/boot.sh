# shellcheck shell=sh
# Startup program of sh, dash and ash, read by the `-c` line of posix.ts: it defines the state report, restores the
# session's state from descriptor 3, and reads the command's prologue from descriptor 4. The prologue assigns the command
# to __trl_run, which the `-c` line evaluates. shell-program.ts drops comments, blank lines and indentation.
#
# bash before 4.0 reads as many bytes from a sourced file as its size says, which is 0 for a pipe.
#
# shellcheck disable=SC1091 # the sourced files are descriptors, or exist only while the shell runs
# shellcheck disable=SC3034 # only bash gets `$(<`
# shellcheck disable=SC2317,SC2329 # the EXIT trap calls __trl_report

# The state report, called by the EXIT trap with the exit status. It writes fields that end with a NUL to the report
# file; posix.ts reads them. As in bash, the user's signal handlers must not print into the report or change its
# subject, so they are ignored: the list of traps goes to the report file first, and the last line of each handler names
# its signal. The code does not assign IFS, which may be readonly.
__trl_report() {
  [ -z "${__trl_done-}" ] || return "$1"
  __trl_done=1
  trap - EXIT
  trap '' XFSZ
  unset -f command printf pwd alias unalias umask read || :
  [ -z "${__trl_wraps_trap-}" ] || unalias trap || :
  [ -z "${__trl_wraps_trap-}" ] || trap >|@HANDLERS_FILE@
  {
    trap
    # Not `command read`, whose failure at the end bash 3.2 takes for one that errexit acts on.
    while read -r __trl_line; do
      case $__trl_line in
      *"' CHLD") trap - CHLD;;
      *"' "*) trap '' "${__trl_line##*"' "}" || :;;
      esac
    done <@REPORT_FILE@

    # Fields 1 to 8: options, previous directory, directory, variables, exports, readonly variables, aliases, umask.
    printf '\0'
    set +o
    set +eux
    printf '\0%s\0' "${OLDPWD-}"
    pwd || printf '%s\n' "$PWD"
    printf '\0'
    set
    printf '\0'
    export -p
    printf '\0'
    readonly -p
    printf '\0'
    alias
    printf '\0'
    umask
    printf '\0whole'
  } >|@REPORT_FILE@
  # The user's EXIT handler runs next and needs the other handlers.
  [ -z "${__trl_wraps_trap-}" ] || . @HANDLERS_FILE@
  return "$1"
}
__trl_done=1
trap '{ __trl_report "$?"; } >/dev/null 2>&1' EXIT

# The state script arrives here. It clears __trl_astray once the shell is in the session's directory.
__trl_astray=1
case ${BASH_VERSION-} in
[1-3].*) eval "$(</dev/fd/3)" >/dev/null 2>&1;;
*) . /dev/fd/3 >/dev/null 2>&1;;
esac

# The prologue of the command.
case ${BASH_VERSION-} in
[1-3].*) eval "$(</dev/fd/4)";;
*) . /dev/fd/4;;
esac

# shellcheck shell=bash
# Part of the prologue of a command that may list functions or variables: it moves the report function to a file, and
# the EXIT trap carries the variables that the function needs. Other commands go without it, because bash would read
# that file while the caller waits for the end of the command. The trap reads the file without aliases, which would
# change it. `set -v` prints the text of a trap but not what the trap runs.
if [[ -n ${BASHOPTS-} ]]; then
  # shellcheck disable=SC2016 # the last line of the file expands its variable when the trap reads it
  { builtin declare -f __trl_report; builtin printf '%s\n' '[[ :$__trl_aliases: != *:expand_aliases:* ]] || builtin shopt -s expand_aliases'; } >|@HOOK_FILE@
  builtin trap -- '{ __trl_i=$? __trl_aliases=$BASHOPTS __trl_shopt0='"${__trl_shopt0-}"' __trl_lines='"${__trl_lines-}"' __trl_stacks='"${__trl_stacks-}"'; \builtin shopt -u expand_aliases; \builtin . '@QUOTED_HOOK_FILE@'; \__trl_report "$__trl_i" "$@"; } >/dev/null 2>&1' EXIT
  builtin unset -v __trl_shopt0 __trl_lines __trl_stacks __trl_visit __trl_list __trl_astray
  builtin unset -f __trl_report
fi

# shellcheck shell=bash
# Serves in-place runs, as a part of boot.sh. Each run is one byte on descriptor 4 (inPlaceWords in dialect.ts), for
# @RUN_AND_LIST@ followed by a line that lists variables. The command is in the command file, so names and line numbers in messages are those of a
# script. The shell writes exit code, directory and previous directory to descriptor 6, then the listed variables.
# bash before 4.1 lacks `read -N` and takes no in-place runs. The timeout only overrides the user's TMOUT.
#
# shellcheck disable=SC2161 # a function can hide `true`, but not `[[`
case $BASH_VERSION in
[1-3].*|4.0.*) builtin read -r -n 1 -t 1000000 -u 4 __trl_visit;;
*) while [[ 1 ]]; do
  builtin read -r -N 1 -t 1000000 -u 4 __trl_visit || { __trl_done=1; builtin exit 126; }
  [[ $__trl_visit != @NO_MORE_RUNS@ ]] || builtin break
  [[ $__trl_visit != @RUN_AND_LIST@ ]] || IFS= builtin read -r -t 1000000 -u 4 __trl_list || { __trl_done=1; builtin exit 126; }
  [[ -z $__trl_astray ]] || { __trl_old=${OLDPWD-}; builtin cd -- "$__trl_astray" && __trl_astray= && OLDPWD=$__trl_old; } || { __trl_done=1; builtin exit 126; }
  builtin . @COMMAND_FILE@
  builtin printf '%d\0%s\0%s\0' "$?" "$PWD" "${OLDPWD-}" >&6
  [[ $__trl_visit != @RUN_AND_LIST@ ]] || { builtin eval "$__trl_list"; builtin printf '\0'; } >&6 2>/dev/null
  # `cd` sets OLDPWD again if it was unset, but does not export it as a new shell does.
  [[ -z ${OLDPWD-} ]] || builtin export OLDPWD
done;;
esac

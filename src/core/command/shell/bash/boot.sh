# shellcheck shell=bash
# Startup program of a bash, named by BASH_ENV: it defines the state report, restores the session's state from
# descriptor 3, serves in-place runs, and reads the command's prologue from descriptor 4. The command itself is the
# script file that bash runs afterwards.
#
# The user may have defined a function or an alias of any name. So the code calls builtins through `builtin`, and uses
# keywords such as `[[`, which a function cannot hide. shell-program.ts drops comments, blank lines and indentation, and
# fills in the placeholders.
#
# bash before 4.0 reads as many bytes from a sourced file as its size says, which is 0 for a pipe.
#
# shellcheck disable=SC1091 # the sourced files are descriptors
unset BASH_ENV
__trl_shopt0=${BASHOPTS-} __trl_done=1

# report.sh; empty for one command that needs no whole report, so that bash reads less before it.
@REPORT@

# The state script arrives here. It clears __trl_astray once the shell is in the session's directory.
__trl_astray=1
case $BASH_VERSION in
[1-3].*) eval "$(</dev/fd/3)" >/dev/null 2>&1;;
*) . /dev/fd/3 >/dev/null 2>&1;;
esac

# in-place-runs.sh, or empty.
@IN_PLACE_RUNS@

# The prologue of the command.
case $BASH_VERSION in
[1-3].*) builtin printf '%s\n' "$(</dev/fd/4)" >|@COPY_FILE@; builtin . @COPY_FILE@;;
*) builtin . /dev/fd/4;;
esac

# shellcheck shell=bash
# Part of the prologue of a command that may set or list an EXIT trap. The function keeps the report's hook in front of
# the user's EXIT handler, because an `exit` in that handler would skip a hook behind it, and leaves the hook out of
# lists of traps. It avoids `[[ =~ ]]`, which would change BASH_REMATCH.
# shellcheck disable=SC2064 # "$@" is the user's call of `trap`, passed on
__trl_wraps_trap=1
trap() {
  if [[ $# == 0 || $1 == -p ]]; then
    # shellcheck disable=SC2155 # the status of `trap -p` does not matter
    local __trl_list=$(builtin trap "$@") __trl_hook='@HOOK@'
    __trl_list=${__trl_list//"$__trl_hook"$'\n'/}
    __trl_list=${__trl_list/"trap -- '$__trl_hook' EXIT"}
    [[ -z $__trl_list ]] || builtin printf '%s\n' "${__trl_list#$'\n'}"; builtin return 0
  fi
  builtin trap "$@" || builtin return
  [[ $1 != -- ]] || builtin shift
  local __trl_name __trl_is_exit=; for __trl_name in "${@:$(( $# == 1 ? 1 : 2 ))}"; do
  case $__trl_name in 0|[Ee][Xx][Ii][Tt]|[Ss][Ii][Gg][Ee][Xx][Ii][Tt]) __trl_is_exit=1;; esac; done
  # A subshell reports nothing, so its traps stay as the user set them.
  [[ $BASH_SUBSHELL == 0 && -n $__trl_is_exit ]] || builtin return 0
  if [[ $1 == - || $# == 1 ]]; then builtin trap '@HOOK@' EXIT; else builtin trap '@HOOK@'$'\n'"$1" EXIT; fi
}

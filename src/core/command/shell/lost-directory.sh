# shellcheck shell=sh
# Part of the prologue if the session's directory no longer exists. As in a terminal after its directory was removed, the
# shell enters an unlinked directory of the same name, and `cd ..` leads to the same directory as there: the missing part
# of the path (@MISSING@) is created, whatever the umask, entered and removed again. If that is not permitted, the shell
# enters an unlinked directory of its own (@OWN_DIRECTORY@), from which `cd ..` fails or leads to an empty directory.
if @COMMAND@ -p mkdir -m 700 -- @MISSING@ 2>/dev/null
then @BUILTIN@ cd -- @DIRECTORY@ || { __trl_done=1; @EXIT@ 126; }
  @COMMAND@ -p rmdir -- @MISSING_INNERMOST_FIRST@
elif @BUILTIN@ cd -- @DIRECTORY@ 2>/dev/null
then :
else @COMMAND@ -p mkdir -p -- @OWN_DIRECTORY@
  @BUILTIN@ cd -- @OWN_DIRECTORY@ || { __trl_done=1; @EXIT@ 126; }
  @COMMAND@ -p rmdir -p -- @OWN_DIRECTORY@ 2>/dev/null
  PWD=@DIRECTORY@
fi

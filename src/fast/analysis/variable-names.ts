// Names of variables in assignments of bash.

export const assignmentPattern = /^([A-Za-z_]\w*)\+?=/;

/** Variables that bash acts upon when they are set, that cannot be set, or that trl uses itself. */
export const specialNames =
  /^(?:BASH\w*|CDPATH|CHILD_MAX|COMP_\w*|COPROC|DIRSTACK|ENV|EPOCH\w*|EUID|EXECIGNORE|FUNCNAME|FUNCNEST|GLOBIGNORE|GROUPS|HIST\w*|HOSTFILE|HOSTNAME|IFS|IGNOREEOF|LANG|LANGUAGE|LC_\w*|LINENO|MAIL\w*|OLDPWD|OPT\w+|PIPESTATUS|POSIX\w*|PPID|PWD|RANDOM|READLINE\w*|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TERM|TEXTDOMAIN\w*|TIMEFORMAT|TRL_\w*|TZ|UID|_|__trl\w*|ignoreeof)$/;

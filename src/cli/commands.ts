// The table of verbs. Each verb is loaded on demand, so that it does not slow the start of the others.
import type { ArgsDef, CommandDef } from "citty";
import { aboutOf, renderHelp } from "./ui/help.ts";

export interface Verb {
  load: () => Promise<CommandDef>;
  /** Shell completion parses it: NAME is a session, a|b a choice, CMD after -- a command. */
  usage: string;
  /** Set if NAME is a terminal only. */
  names?: "terminals";
  examples: string[];
  footer?: string;
}

// The argument types differ from verb to verb; this table does not need them.
const loaded = (module: Promise<{ default: unknown }>) => module.then((it) => it.default as CommandDef);

export const verbs: Record<string, Verb> = {
  serve: {
    load: () => loaded(import("./commands/serve.ts")),
    usage: "trl [serve] [FLAGS]",
    examples: ["trl serve", "trl --socket-path /tmp/my.sock --log-format json"],
    footer: "Each flag can be given as an environment variable, too: --max-sessions is TRL_MAX_SESSIONS.",
  },
  run: {
    load: () => loaded(import("./commands/run.ts")),
    usage: "trl run [FLAGS] -- CMD...",
    examples: [
      "trl run -- ls -l",
      "trl run --session build --cwd ~/project -- 'make clean && make'",
      "trl run --timeout 60 -- npm test",
      "trl run --runtime gpu -- nvidia-smi",
      "trl run -i -- wc -l <file",
      "trl run --json -- make",
    ],
    footer:
      "One word after -- is a line for the shell; several are a program and its arguments.\n" +
      "^C interrupts the command, a second one stops it.\n" +
      "Where no daemon is running, a temporary one is started. A timeout exits with 124.\n" +
      "In another runtime the command has the directory and the environment of that runtime, unless --cwd is given.",
  },
  new: {
    load: () => loaded(import("./commands/new.ts")),
    usage: "trl new [FLAGS] [NAME] [-- CMD...]",
    examples: ["trl new work", "trl new -d server -- npm run dev", "trl new --detach-key ctrl-a work"],
    footer:
      "It runs CMD (a program and its arguments) or your shell, here and with your environment.\n" +
      "ctrl-\\ detaches and lets it run; trl attach NAME attaches again, from any window.\n" +
      "Away from a terminal, or with -d, its id is printed. Where no daemon is running, one is started and stays.",
  },
  attach: {
    load: () => loaded(import("./commands/attach.ts")),
    usage: "trl attach [FLAGS] NAME",
    names: "terminals",
    examples: ["trl attach work", "trl attach --detach-key ctrl-] work"],
    footer:
      "NAME is a terminal's name or id. ctrl-\\ detaches and lets it run.\n" +
      "trl attach exits with the exit code of the terminal's program. Several users may attach to one terminal; the\n" +
      "one that types last sets its size.",
  },
  ls: {
    load: () => loaded(import("./commands/ls.ts")),
    usage: "trl ls [FLAGS]",
    examples: ["trl ls --json"],
  },
  ps: {
    load: () => loaded(import("./commands/ps.ts")),
    usage: "trl ps [FLAGS]",
    examples: ["trl ps", "trl ps --all", "trl ps --json"],
  },
  top: {
    load: () => loaded(import("./commands/top.ts")),
    usage: "trl top [FLAGS]",
    examples: ["trl top", "trl top --sort rate", "trl top --once --json"],
    footer:
      "e, o, r and s sort by elapsed time, output, rate and session, the same key again turns the order around;\n" +
      "arrows scroll, q or ^C quits. Away from a terminal, or with --once, one table is printed.",
  },
  send: {
    load: () => loaded(import("./commands/send.ts")),
    usage: "trl send [FLAGS] NAME [TEXT | --key KEY]...",
    examples: [
      "trl send work --enter 'make test'",
      "trl send editor --key Escape :wq --key Enter",
      "trl send work --key C-c",
      "trl send work - <script",
      "trl send x-91f034ee --enter yes --eof",
    ],
    footer:
      "NAME is a terminal, a running command (started with -i), or the session that it runs in.\n" +
      "Texts and keys are sent in the order given; words side by side are joined by a space; - is standard input.\n" +
      "Keys: Enter Escape Tab Space Backspace Delete Insert Up Down Left Right Home End PageUp PageDown F1 to F12,\n" +
      "any character, and with C- (ctrl), M- (alt), S- (shift) before it. Behind -- everything is text.",
  },
  screen: {
    load: () => loaded(import("./commands/screen.ts")),
    names: "terminals",
    usage: "trl screen [FLAGS] NAME",
    examples: [
      "trl screen work",
      "trl screen --ansi --scrollback 100 work | less -R",
      "trl screen --wait 'tests passed' --timeout 300 work",
      "trl screen --idle 0.5 --json work",
    ],
    footer:
      "Of several things to wait for, one is enough. Where the time is over the exit code is 124, and where the\n" +
      "program has ended before, 1; what is on the screen is printed all the same.",
  },
  logs: {
    load: () => loaded(import("./commands/logs.ts")),
    usage: "trl logs [FLAGS] NAME",
    examples: ["trl logs build", "trl logs -f x-91f034ee", "trl logs --stderr build 2>errors"],
    footer:
      "NAME is a command, a session (its last command) or a terminal (its output as it was printed; what it shows\n" +
      "now is trl screen). What has ended is kept for ten minutes. The exit code is not the command's.\n" +
      "^C ends trl logs, and the command runs on. A slow reader delays it for a second at most; a notice says what the\n" +
      "reader missed.",
  },
  cancel: {
    load: () => loaded(import("./commands/cancel.ts")),
    usage: "trl cancel [FLAGS] NAME...",
    examples: ["trl cancel build", "trl cancel --signal SIGINT x-91f034ee"],
    footer: "NAME is a command or the session that it runs in. Where nothing runs there, the exit code is 1.",
  },
  kill: {
    load: () => loaded(import("./commands/kill.ts")),
    usage: "trl kill [FLAGS] NAME...",
    examples: ["trl kill work", "trl kill server s-91f034ee"],
  },
  runtimes: {
    load: () => loaded(import("./commands/runtimes.ts")),
    usage: "trl runtimes [list | add NAME KIND:TARGET | remove NAME | check NAME] [FLAGS]",
    examples: [
      "trl runtimes",
      "trl runtimes add gpu ssh:user@host --labels gpu,big",
      "trl runtimes add box docker:mycontainer",
      "trl runtimes add other command -- ssh -p 2222 host trl dial-stdio",
      "trl runtimes check gpu",
      "trl run --runtime gpu -- nvidia-smi",
    ],
    footer:
      "KIND is socket (a path), http (an address), ssh (a host), docker (a container),\n" +
      "kubernetes (a pod, or NAMESPACE/POD), or command (its input and output speak the protocol).",
  },
  ping: { load: () => loaded(import("./commands/ping.ts")), usage: "trl ping [FLAGS]", examples: [] },
  stats: {
    load: () => loaded(import("./commands/stats.ts")),
    usage: "trl stats [FLAGS]",
    examples: ["trl stats --json"],
  },
  upgrade: {
    load: () => loaded(import("./commands/upgrade.ts")),
    usage: "trl upgrade [FLAGS]",
    examples: ["trl upgrade", "trl upgrade --executable /opt/trl/trl", "trl upgrade --json"],
    footer:
      "This program replaces the one that runs the daemon. Sessions, commands and terminals go on, with the\n" +
      "same pids; clients are disconnected for a moment. The program is checked first: if the check fails,\n" +
      "nothing happens. What cannot be handed over (terminals by bun-pty; on macOS whatever runs) is waited for.",
  },
  doctor: {
    load: () => loaded(import("./commands/doctor.ts")),
    usage: "trl doctor [FLAGS]",
    examples: ["trl doctor", "trl doctor --json"],
    footer:
      "A note is worth knowing; a problem keeps trl from its work, or is dangerous. With a problem it exits with 1.\n" +
      "Shells and terminals are tested in a temporary daemon.",
  },
  describe: {
    load: () => loaded(import("./commands/describe.ts")),
    usage: "trl describe [FLAGS] [METHOD]",
    examples: ["trl describe", "trl describe exec.run", "trl describe --json"],
    footer: "Where no daemon is running, a temporary one is started. --json prints JSON Schemas.",
  },
  service: {
    load: () => loaded(import("./commands/service.ts")),
    usage: "trl service install|uninstall|status [FLAGS] [-- SERVE-FLAGS...]",
    examples: [
      "trl service install",
      "trl service install -- --max-sessions 200 --http 127.0.0.1:9100",
      "trl service install --dry-run",
      "trl service status --json",
    ],
    footer:
      "install writes a systemd user unit, on macOS a launchd agent, and starts it; what stands behind -- goes to\n" +
      "trl serve. It listens where the other commands look: --socket-path, else $TRL_SOCKET_PATH, else /tmp/trl.sock.\n" +
      "uninstall ends it, with all that it runs, and removes the file. status exits with 69 if it is not active.",
  },
  completions: {
    load: () =>
      loaded(import("./commands/completions.ts").then((it) => ({ default: it.completionsOf(verbs) }))),
    usage: "trl completions bash|zsh|fish",
    examples: [
      "trl completions bash >~/.local/share/bash-completion/completions/trl",
      "echo 'source <(trl completions bash)' >>~/.bashrc",
      "echo 'source <(trl completions zsh)' >>~/.zshrc    # behind the line with compinit",
      "trl completions fish >~/.config/fish/completions/trl.fish",
    ],
    footer:
      "It prints a script for the shell, which completes commands, flags, their values, and the names of sessions.\n" +
      "A new version of trl may have more of them: make a file anew then; a line with source is always right.",
  },
  token: {
    load: () => loaded(import("./commands/token.ts")),
    usage: "trl token [FLAGS]",
    examples: [
      'curl -H "Authorization: Bearer $(trl token)" http://127.0.0.1:9100/metrics',
      "trl token --path",
    ],
    footer:
      "It is $TRL_AUTH_TOKEN, else what is in the file beside the socket, which the daemon makes.\n" +
      "Nothing is made or changed here. The socket itself asks for no token: it is its owner's alone.",
  },
  "dial-stdio": {
    load: () => loaded(import("./commands/dial-stdio.ts")),
    usage: "trl dial-stdio [FLAGS] [-- SERVE-FLAGS...]",
    examples: ["ssh HOST trl dial-stdio", "trl dial-stdio --socket-path /tmp/my.sock -- --max-sessions 8"],
    footer:
      "Where no daemon is running, one is started with the flags behind --, and stays.\n" +
      "The end of the input is passed on to the daemon, which still answers what was asked; with --hang-up\n" +
      "it ends everything here at once. The daemon and what it does go on in any case.",
  },
};

export async function helpForVerb(name: string): Promise<string> {
  const { load, usage, examples, footer } = verbs[name]!;
  const command = await load();
  const args = (await (typeof command.args === "function" ? command.args() : command.args)) as ArgsDef;
  return renderHelp({ usage, about: await aboutOf(command), args, examples, ...(footer ? { footer } : {}) });
}

export async function generalHelp(version: string): Promise<string> {
  const commands = Object.entries(verbs).map(
    async ([name, { load }]): Promise<[string, string]> => [name, await aboutOf(await load())],
  );
  return renderHelp({
    usage: "trl COMMAND [FLAGS]",
    about: `trl ${version}: a terminal runtime for AI agents and GUI frontends.\nIt owns the sessions, runs their commands and leaves nothing behind.`,
    commands: await Promise.all(commands),
    examples: ["trl serve", "trl run -- 'cd /tmp && ls'", "trl new work", "trl top", "trl COMMAND --help"],
  });
}

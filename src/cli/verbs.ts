// The verbs: each is loaded only when it is asked for, so that none slows another's start.
import type { ArgsDef, CommandDef } from "citty";
import { aboutOf, renderHelp } from "./help.ts";

interface Verb {
  load: () => Promise<CommandDef>;
  usage: string;
  examples: string[];
  footer?: string;
}

// A command's own argument types differ from verb to verb; here they do not matter.
const loaded = (module: Promise<{ default: unknown }>) => module.then((it) => it.default as CommandDef);

export const verbs: Record<string, Verb> = {
  serve: {
    load: () => loaded(import("./serve.ts")),
    usage: "trl [serve] [FLAGS]",
    examples: ["trl serve", "trl --socket-path /tmp/my.sock --log-format json"],
    footer: "Each flag can be given as an environment variable, too: --max-sessions is TRL_MAX_SESSIONS.",
  },
  run: {
    load: () => loaded(import("./run.ts")),
    usage: "trl run [FLAGS] -- CMD...",
    examples: [
      "trl run -- ls -l",
      "trl run --session build --cwd ~/project -- 'make clean && make'",
      "trl run --timeout 60 -- npm test",
      "trl run -i -- wc -l <file",
      "trl run --json -- make",
    ],
    footer:
      "One word after -- is a line for the shell; several are a program and its arguments.\n" +
      "^C interrupts the command, a second one stops it.\n" +
      "Where no daemon is running, one is started for the moment. A timeout exits with 124.",
  },
  new: {
    load: () => loaded(import("./new.ts")),
    usage: "trl new [FLAGS] [NAME] [-- CMD...]",
    examples: ["trl new work", "trl new -d server -- npm run dev", "trl new --detach-key ctrl-a work"],
    footer:
      "It runs CMD (a program and its arguments) or your shell, here and with your environment.\n" +
      "ctrl-\\ leaves it and lets it run; trl attach NAME comes back, from any window.\n" +
      "Away from a terminal, or with -d, its id is printed. Where no daemon is running, one is started and stays.",
  },
  attach: {
    load: () => loaded(import("./attach.ts")),
    usage: "trl attach [FLAGS] NAME",
    examples: ["trl attach work", "trl attach --detach-key ctrl-] work"],
    footer:
      "NAME is a terminal's name or id. ctrl-\\ leaves it and lets it run.\n" +
      "When its program ends, its exit code is ours. Several may sit at one terminal; who types decides its size.",
  },
  ls: { load: () => loaded(import("./ls.ts")), usage: "trl ls [FLAGS]", examples: ["trl ls --json"] },
  ps: {
    load: () => loaded(import("./ps.ts")),
    usage: "trl ps [FLAGS]",
    examples: ["trl ps", "trl ps --all", "trl ps --json"],
  },
  top: {
    load: () => loaded(import("./top.ts")),
    usage: "trl top [FLAGS]",
    examples: ["trl top", "trl top --sort rate", "trl top --once --json"],
    footer:
      "e, o, r and s sort by elapsed time, output, rate and session, the same key again turns the order around;\n" +
      "arrows scroll, q or ^C quits. Away from a terminal, or with --once, one table is printed.",
  },
  send: {
    load: () => loaded(import("./send.ts")),
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
    load: () => loaded(import("./screen.ts")),
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
    load: () => loaded(import("./logs.ts")),
    usage: "trl logs [FLAGS] NAME",
    examples: ["trl logs build", "trl logs -f x-91f034ee", "trl logs --stderr build 2>errors"],
    footer:
      "NAME is a command, a session (its last command) or a terminal (its output as it was printed; what it shows\n" +
      "now is trl screen). What has ended is kept for ten minutes. The exit code is not the command's.\n" +
      "^C leaves, and the command runs on; a slow reader holds it up for a second at most, and is told what it missed.",
  },
  cancel: {
    load: () => loaded(import("./cancel.ts")),
    usage: "trl cancel [FLAGS] NAME...",
    examples: ["trl cancel build", "trl cancel --signal SIGINT x-91f034ee"],
    footer: "NAME is a command or the session that it runs in. Where nothing runs there, the exit code is 1.",
  },
  kill: {
    load: () => loaded(import("./kill.ts")),
    usage: "trl kill [FLAGS] NAME...",
    examples: ["trl kill work", "trl kill server s-91f034ee"],
  },
  ping: { load: () => loaded(import("./ping.ts")), usage: "trl ping [FLAGS]", examples: [] },
  stats: {
    load: () => loaded(import("./stats.ts")),
    usage: "trl stats [FLAGS]",
    examples: ["trl stats --json"],
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

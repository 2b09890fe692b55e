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
      "trl run --runtime gpu -- nvidia-smi",
      "trl run -i -- wc -l <file",
    ],
    footer:
      "One word after -- is a line for the shell; several are a program and its arguments.\n" +
      "^C interrupts the command, a second one stops it.\n" +
      "Where no daemon is running, one is started for the moment. A timeout exits with 124.\n" +
      "In another runtime the command has the directory and the environment of that place, unless --cwd says otherwise.",
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
  kill: {
    load: () => loaded(import("./kill.ts")),
    usage: "trl kill [FLAGS] NAME...",
    examples: ["trl kill work", "trl kill server s-91f034ee"],
  },
  runtimes: {
    load: () => loaded(import("./runtimes.ts")),
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
      "kubernetes (a pod, or NAMESPACE/POD), or command (whose input and output speak the protocol).",
  },
  ping: { load: () => loaded(import("./ping.ts")), usage: "trl ping [FLAGS]", examples: [] },
  stats: {
    load: () => loaded(import("./stats.ts")),
    usage: "trl stats [FLAGS]",
    examples: ["trl stats --json"],
  },
  "dial-stdio": {
    load: () => loaded(import("./dial-stdio.ts")),
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
    examples: ["trl serve", "trl run -- 'cd /tmp && ls'", "trl new work", "trl COMMAND --help"],
  });
}

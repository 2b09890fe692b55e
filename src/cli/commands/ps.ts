// trl ps: lists running commands and programs of terminals.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { listRunning, runningColumns } from "../running.ts";
import { jsonArgs, note, print, printJson } from "../ui/print.ts";
import { renderTable, stdoutLook } from "../ui/table.ts";

const args = {
  ...socketArgs,
  all: { type: "boolean", alias: "a", description: "Also what has ended lately, and how" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: {
    name: "ps",
    description: "Show what runs where and for how long: commands and terminals' programs",
  },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    using client = await connect(socketPathFrom(given));
    const running = await listRunning(client, given.all === true);
    if (given.json) return printJson({ running });
    if (running.length === 0) return note(given.all ? nothingYet : nothingNow);
    print(renderTable(Object.values(runningColumns), running, stdoutLook()));
  },
});

const nothingNow = "nothing is running; trl ps --all shows what has ended lately";
const nothingYet = "nothing has run lately; start something with: trl run -- CMD or trl new NAME";

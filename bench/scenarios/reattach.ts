// The first screen of a terminal that was left with 2000 lines, for a client that comes back over a new connection.
import type { Daemon } from "../harness/daemon.ts";
import { atMost, figure, row } from "../harness/rows.ts";
import type { Scenario } from "../harness/scenario.ts";
import { besideOf } from "../harness/sides.ts";
import { Tmux } from "../harness/tmux.ts";
import { until } from "../harness/until.ts";
import { request, Wire } from "../harness/wire.ts";
import { outputMark } from "./typist.ts";

const scenario = "reattach";
const print2000 = "for i in {1..2000}; do echo a line of text, number $i; done; sleep 1000";

export const reattach: Scenario = {
  name: scenario,
  about: "the first screen of a terminal that was left with 2000 lines",
  async run(bench) {
    await using daemon = await bench.daemon();
    await using tmux = Tmux.start(bench);
    // With its last session tmux would end.
    await tmux?.newSession("stays", "sleep 1000");
    const mine: number[] = [];
    const theirs: number[] = [];
    for (let i = 0; i < bench.times(30, 5); i++) {
      mine.push(await trlReattach(daemon));
      if (tmux) theirs.push(await tmuxReattach(tmux, `left${i}`));
    }
    const tmuxFigure = tmux && figure(theirs);
    return {
      rows: [
        row({
          scenario,
          name: "first screen",
          unit: "ms",
          trl: figure(mine),
          beside: besideOf("tmux: attach, capture-pane", bench.tools.tmux, tmuxFigure),
          bar: atMost(20),
        }),
      ],
    };
  },
};

async function trlReattach({ socketPath, connect }: Daemon): Promise<number> {
  using control = await connect();
  const { session_id } = await control.call("pty.create", { command: print2000 });
  await until(async () => {
    const { sessions } = await control.call("pty.list");
    const list = sessions as { session_id: string; offset: number }[];
    return list.some((each) => each.session_id === session_id && each.offset > 56_000);
  });
  const began = performance.now();
  using wire = await Wire.connect(socketPath);
  await new Promise<void>((resolve) => {
    wire.onChunk = (chunk) => chunk.includes(outputMark) && resolve();
    wire.say(request("pty.subscribe", { session_id, replay: "screen" }));
  });
  const took = performance.now() - began;
  await control.call("pty.close", { session_id });
  return took;
}

/** A control client is a process of its own, and is given the screen when it asks for it. */
async function tmuxReattach(tmux: Tmux, name: string): Promise<number> {
  await tmux.newSession(name, `bash -c '${print2000}'`);
  await until(async () => (await tmux.run(["capture-pane", "-p", "-t", name])).includes("number 2000"));
  const began = performance.now();
  const child = Bun.spawn(tmux.attachCommand(name), { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write("capture-pane -e -p\n");
  child.stdin.flush();
  let seen = "";
  for await (const chunk of child.stdout) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes("number 2000")) break;
  }
  const took = performance.now() - began;
  child.kill();
  await child.exited;
  await tmux.run(["kill-session", "-t", name]);
  return took;
}

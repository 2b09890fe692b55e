// exec.run beside a bare spawn of `bash -c`, as an agent without trl would do it.
import { DaemonClient } from "../src/cli/client.ts";
import { alternate, atMost, type Row, repeat, startDaemon } from "./support.ts";

const rounds = 300;
/** An agent thinks between two commands, for much longer than this. */
const pauseMs = 5;

async function bareBash(command: string): Promise<void> {
  const child = Bun.spawn(["bash", "-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
}

export async function benchExecRun(): Promise<Row[]> {
  await using daemon = await startDaemon();
  using client = await DaemonClient.connect(daemon.socketPath);
  const { session_id } = await client.call("session.create", { shell: "/bin/bash" });
  const run = (command: string) => () => client.call("exec.run", { session_id, command });
  const bare = (command: string) => () => bareBash(command);
  const rows: Row[] = [];
  // Back to back no shell is warm: the next one must be started in the same time.
  for (const [command, limit, limitInARow] of [
    [":", 0.8, 1.3],
    ["x=1", 1, 1.6], // it changes the state, which is then reported
    ["/bin/true", 1.2, 1.6],
  ] as const) {
    for (const [how, pause] of [
      ["taking turns", 0],
      ["with pauses", pauseMs],
    ] as const) {
      const [mine, floor] = await alternate(rounds, [run(command), bare(command)], pause);
      rows.push(atMost(`exec.run \`${command}\` / bash -c, ${how}`, mine!, floor!, limit));
    }
    const mineInARow = await repeat(rounds, run(command));
    const floorInARow = await repeat(rounds, bare(command));
    rows.push(
      atMost(`exec.run \`${command}\` / bash -c, back to back`, mineInARow, floorInARow, limitInARow),
    );
  }
  return rows;
}

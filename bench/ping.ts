// system.ping beside a bare echo over a Unix socket.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DaemonClient } from "../src/cli/client.ts";
import { alternate, atMost, pinned, type Row, startDaemon } from "./support.ts";

const rounds = 3000;
const echoServer = `Bun.listen({ unix: process.argv[1], socket: { data(s, d) { s.write(d); } } })`;

interface Echo extends Disposable {
  roundTrip(): Promise<void>;
}

async function startEcho(): Promise<Echo> {
  const dir = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const path = join(dir, "echo.sock");
  const child = Bun.spawn([...pinned, process.execPath, "-e", echoServer, path], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  let answered = () => {};
  const connect = () =>
    Bun.connect({ unix: path, socket: { data: () => answered() } }).catch(() => undefined);
  let socket = await connect();
  while (!socket) {
    await Bun.sleep(2);
    socket = await connect();
  }
  const connected = socket;
  return {
    roundTrip: () =>
      new Promise((resolve) => {
        answered = resolve;
        connected.write('{"id":"1","method":"system.ping","params":{}}\n');
      }),
    [Symbol.dispose]() {
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export async function benchPing(): Promise<Row[]> {
  await using daemon = await startDaemon({ pin: true });
  using client = await DaemonClient.connect(daemon.socketPath);
  using echo = await startEcho();
  const [mine, floor] = await alternate(rounds, [
    () => client.call("system.ping", {}),
    () => echo.roundTrip(),
  ]);
  return [atMost("system.ping / bare socket echo", mine!, floor!, 3)];
}

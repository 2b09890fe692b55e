// How the tests start a Docker engine of their own, and whether this machine lets them. dockerd.ts starts one for tests.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Socket, data and state are in that directory. Containers have no network: the machine's firewall is left alone. */
export const engineFlags = (dir: string): string[] => [
  ...["--host", `unix://${join(dir, "docker.sock")}`, "--pidfile", join(dir, "docker.pid")],
  ...["--data-root", join(dir, "data"), "--exec-root", join(dir, "exec")],
  ...["--storage-driver", "vfs", "--iptables=false", "--ip6tables=false", "--bridge=none"],
];

/** Starts an engine, imports an image and runs a program in it. */
const trial = `
"$@" >"$DIR/log" 2>&1 &
engine=$!
trap 'kill $engine 2>/dev/null; wait $engine' EXIT
tries=0
until docker version >/dev/null 2>&1; do
  kill -0 $engine 2>/dev/null && [ $((tries += 1)) -lt 300 ] || exit 1
  sleep 0.1
done
tar -c -C "$DIR/root" . | docker import - trial >/dev/null &&
  docker run --rm --network none trial /bin/busybox true 2>>"$DIR/log"
`;

/** Why no engine can be started here, and undefined where one can. Takes a second or two. */
export function dockerProblem(dockerd: string): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), "trl-test-docker-"));
  mkdirSync(join(dir, "root/bin"), { recursive: true });
  Bun.spawnSync(["cp", Bun.which("busybox")!, join(dir, "root/bin/busybox")]);
  const { success } = Bun.spawnSync(["sh", "-c", trial, "sh", dockerd, ...engineFlags(dir)], {
    env: { ...process.env, DIR: dir, DOCKER_HOST: `unix://${join(dir, "docker.sock")}`, DOCKER_CONFIG: dir },
    stdio: ["ignore", "ignore", "ignore"],
    timeout: 60_000,
  });
  const lines = readFileSync(join(dir, "log"), "utf8").trim().split("\n");
  const reason =
    lines.findLast((line) => /^failed|^docker:|level=(?:error|fatal)/.test(line)) ?? lines.at(-1);
  unmountUnder(dir);
  rmSync(dir, { recursive: true, force: true });
  return success ? undefined : `a Docker engine does not work here: ${reason}`;
}

/** An engine that has failed may leave mounts behind; the innermost go first. */
export function unmountUnder(directory: string): void {
  const lines = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const mounts = lines.map((line) => line.split(" ")[1] ?? "");
  for (const path of mounts.filter((path) => path.startsWith(`${directory}/`)).reverse())
    Bun.spawnSync(["umount", "-l", path]);
}

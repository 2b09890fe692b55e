// The tests' daemon in a container. It has the programs and the files of this machine, which the tests use, and sees its
// processes by the numbers that they have here. Engine and container are started with the first daemon, and ended with
// the file.
import { readdirSync, readFileSync } from "node:fs";
import { beside } from "../../src/util/socket-path.ts";
import { startDocker, type TestDocker } from "./dockerd.ts";
import type { StartRemote } from "./front-daemon.ts";
import { isAlive } from "./processes.ts";
import { binary } from "./program.ts";
import { until } from "./wait.ts";

let engine: Promise<TestDocker> | undefined;
let container: string | undefined;

/** Whatever this machine has, wherever the project lies in it, but for what a container has of its own. */
const own = new Set(["proc", "sys", "dev", "run"]);
const shared = readdirSync("/", { withFileTypes: true }).filter(
  (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !own.has(entry.name),
);

export const startInDocker: StartRemote = async (setup, start) => {
  engine ??= startDocker();
  const { env, run } = await engine;
  const volumes = shared.flatMap(({ name }) => ["-v", `/${name}:/${name}`]);
  container ??= run("--pid", "host", ...volumes);
  const far = { PATH: process.env["PATH"], HOME: process.env["HOME"], LANG: "C.UTF-8", ...setup.env };
  const variables = Object.entries(far).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const program = ["docker", "exec", "-i", ...variables, container, ...(setup.program ?? [binary])];
  const here = { DOCKER_HOST: env["DOCKER_HOST"]!, DOCKER_CONFIG: env["DOCKER_CONFIG"]! };
  const daemon = await start({ ...setup, env: here, program });
  const pid = Number(readFileSync(beside(daemon.socketPath, ".pid"), "utf8"));
  return {
    daemon: {
      ...daemon,
      pid,
      kill: (signal) => process.kill(pid, signal),
      async [Symbol.asyncDispose]() {
        if (isAlive(pid)) process.kill(pid, "SIGTERM");
        await until("the daemon's end", () => !isAlive(pid));
        await daemon[Symbol.asyncDispose]();
      },
    },
    spec: { kind: "docker", container, socket_path: daemon.socketPath },
    env: here,
  };
};

export async function endDockerRuntime(): Promise<void> {
  const started = await engine;
  engine = container = undefined;
  await started?.[Symbol.asyncDispose]();
}

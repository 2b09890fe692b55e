// A Docker engine for tests that declare `needs("docker")`: socket, data and state are in a directory that is removed
// afterwards, with everything that ran in it. No image is pulled: one is made of programs of this machine.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { engineFlags, unmountUnder } from "./docker-engine.ts";
import { endAll, processesWith } from "./processes.ts";
import { copyExecutable } from "./remote-daemon.ts";
import { findProgram } from "./requirements.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./wait.ts";

export interface TestDocker extends AsyncDisposable {
  /** For `docker` and whatever calls it. */
  env: Record<string, string | undefined>;
  image: string;
  /** The words of a `docker` that must succeed. */
  docker(...words: string[]): string;
  /** A container that runs, without a network; its id. */
  run(...options: string[]): string;
  /** Options that put the executable where it would be copied to: most tests are not about that. */
  withExecutable: string[];
  isRunning(id: string): boolean;
}

export async function startDocker(): Promise<TestDocker> {
  const dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  const child = Bun.spawn([findProgram("dockerd")!, ...engineFlags(dir.path)], {
    stdio: ["ignore", "ignore", Bun.file(at("log"))],
    detached: true, // a ^C must not end it before its containers
  });
  const env = { ...process.env, DOCKER_HOST: `unix://${at("docker.sock")}`, DOCKER_CONFIG: at("config") };
  const ask = (words: string[]) => Bun.spawnSync(["docker", ...words], { env, stdin: "ignore" });
  const docker = (...words: string[]) => {
    const { exitCode, stdout, stderr } = ask(words);
    if (exitCode !== 0) throw new Error(`docker ${words.join(" ")}: ${stderr}`);
    return stdout.toString().trim();
  };
  const end = async () => {
    const containers = ask(["ps", "-aq"]).stdout.toString().split("\n").filter(Boolean);
    if (containers.length > 0) ask(["rm", "-f", ...containers]);
    await endAll([child.pid]);
    await endAll(processesWith(dir.path)); // containerd and its shims, should they be left
    unmountUnder(dir.path);
    dir[Symbol.dispose]();
  };
  const image = "trl-test:1";
  try {
    await until(
      "the engine",
      () => {
        if (child.exitCode !== null) throw new Error("it has ended");
        return ask(["version"]).exitCode === 0;
      },
      60_000,
    );
    importImage(at("root"), image, env);
    await copyExecutable(at("home"));
  } catch (error) {
    const log = existsSync(at("log")) ? readFileSync(at("log"), "utf8").slice(-3000) : "";
    await end();
    throw new Error(`the Docker engine cannot be used here: ${(error as Error).message}\n${log}`);
  }
  return {
    env,
    image,
    docker,
    run: (...options) => docker("run", "-d", "--network", "none", ...options, image, "sleep", "100000"),
    withExecutable: ["-v", `${at("home/.cache")}:/root/.cache:ro`],
    isRunning: (id) => ask(["inspect", "-f", "{{.State.Running}}", id]).stdout.toString().trim() === "true",
    [Symbol.asyncDispose]: end,
  };
}

const programs = [
  "bash",
  "cat",
  "env",
  "head",
  "id",
  "ls",
  "seq",
  "sha256sum",
  "sleep",
  "stty",
  "tr",
  "uname",
];

/** glibc, a few programs as they are here, and busybox for the rest. */
function importImage(root: string, name: string, env: Record<string, string | undefined>): void {
  for (const path of ["bin", "etc", "root", "tmp", "usr"]) mkdirSync(join(root, path), { recursive: true });
  const copy = (from: string, to = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    if (!existsSync(join(root, to))) copyFileSync(from, join(root, to));
  };
  const libraries = (program: string) =>
    [
      ...Bun.spawnSync(["ldd", program])
        .stdout.toString()
        .matchAll(/(\/\S+) \(0x/g),
    ].map(([, path]) => path!);
  for (const program of programs) {
    const path = Bun.which(program);
    if (!path) throw new Error(`${program} is missing`);
    copy(path, `bin/${program}`);
    for (const library of libraries(path)) copy(library);
  }
  for (const library of libraries(join(import.meta.dir, "../../dist/trl"))) copy(library);
  const busybox = findProgram("busybox")!;
  copy(busybox, "bin/busybox");
  for (const applet of Bun.spawnSync([busybox, "--list"]).stdout.toString().split("\n").filter(Boolean))
    if (!existsSync(join(root, "bin", applet))) symlinkSync("busybox", join(root, "bin", applet));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/:/bin/sh\n");
  const pack = `chmod 1777 tmp && tar -c . | docker import --change 'ENV PATH=/bin' - ${name}`;
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", pack], { cwd: root, env, stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`docker import: ${stderr}`);
}

// OpenSSH's own server on the loopback, with keys and a home directory made for the test, which declares `needs("sshd")`.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SshSpec } from "../../src/remote/connectors/ssh.ts";
import { endAll, listProcesses } from "./processes.ts";
import { copyExecutable } from "./remote-daemon.ts";
import { findProgram, isRoot } from "./requirements.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./wait.ts";

export interface TestSshd extends AsyncDisposable {
  spec: SshSpec;
  /** Of the user who logs in. */
  home: string;
  /** With the sockets of the daemons over there. */
  runtimeDir: string;
  dir: string;
  daemonPids(): number[];
}

interface Setup {
  hasExecutable?: boolean;
  /** Without it what is copied is not compressed: most of the copying is that. */
  hasGunzip?: boolean;
}

export async function startSshd({ hasExecutable = true, hasGunzip = true }: Setup = {}): Promise<TestSshd> {
  const dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  if (isRoot) mkdirSync("/run/sshd", { recursive: true }); // sshd drops its privileges there
  for (const name of ["host", "user"]) makeKey(at(name));
  writeFileSync(at("authorized_keys"), readFileSync(at("user.pub")));
  mkdirSync(at("home"));
  if (hasExecutable) await copyExecutable(at("home"));
  const { child, port } = await listen(at, {
    HOME: at("home"),
    TRL_RUNTIME_DIR: at("runtime"),
    XDG_CACHE_HOME: "",
    XDG_RUNTIME_DIR: "",
    ...(hasGunzip ? {} : { PATH: withoutGunzip(at("bin")) }),
  });
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(at("host.pub"), "utf8")}`);
  const daemonPids = () => pidsIn(at("runtime"));
  return {
    spec: {
      host: "127.0.0.1",
      port,
      identity_file: at("user"),
      // Nothing of the person's own configuration takes part.
      options: [
        "-F",
        "/dev/null",
        "-o",
        `UserKnownHostsFile=${at("known_hosts")}`,
        "-o",
        "IdentityAgent=none",
      ],
    },
    home: at("home"),
    runtimeDir: at("runtime"),
    dir: dir.path,
    daemonPids,
    async [Symbol.asyncDispose]() {
      await endAll([...daemonPids(), ...descendantsOf(child.pid), child.pid]);
      dir[Symbol.dispose]();
    },
  };
}

/** The programs of this machine but that one. */
function withoutGunzip(directory: string): string {
  mkdirSync(directory);
  for (const name of readdirSync("/usr/bin"))
    if (name !== "gunzip") symlinkSync(`/usr/bin/${name}`, join(directory, name));
  return directory;
}

function makeKey(path: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path]);
  if (exitCode !== 0) throw new Error(`ssh-keygen: ${stderr}`);
}

/** A port that was free a moment ago may not be; then another one is. */
async function listen(at: (name: string) => string, env: Record<string, string>) {
  for (let attempt = 1; ; attempt++) {
    const port = freePort();
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const config = [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${at("host")}`,
      `AuthorizedKeysFile ${at("authorized_keys")}`,
      "PidFile none",
      "StrictModes no",
      "UsePAM no",
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PrintMotd no",
      `SetEnv ${variables.join(" ")}`,
    ];
    writeFileSync(at("sshd_config"), `${config.join("\n")}\n`);
    const log = Bun.file(at("sshd.log"));
    const child = Bun.spawn([findProgram("sshd")!, "-D", "-e", "-f", at("sshd_config")], {
      stdio: ["ignore", "ignore", log],
      detached: true,
    });
    const said = () => readFileSync(at("sshd.log"), "utf8");
    await until("sshd", () => child.exitCode !== null || said().includes("Server listening"));
    if (child.exitCode === null) return { child, port };
    if (attempt === 5) throw new Error(`sshd did not start:\n${said()}`);
  }
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

function pidsIn(directory: string): number[] {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory).filter((name) => name.endsWith(".pid"));
  return files.map((name) => Number(readFileSync(join(directory, name), "utf8")));
}

function descendantsOf(pid: number): number[] {
  const children = listProcesses().filter(({ ppid }) => ppid === pid);
  return children.flatMap((child) => [child.pid, ...descendantsOf(child.pid)]);
}

// What tests need of the machine beyond Bun, Node and a POSIX shell: how each need is checked, and what provides it.
// Tests declare their needs by `needs` (needs.ts); scripts/test/run.ts sums up what was missing; scripts/test/setup.ts
// installs it. Checks are synchronous, because tests are declared while their file loads, and run once per process.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AcceleratorName, acceleratorNames, parseFast } from "../../src/fast/switches.ts";
import { dockerProblem } from "./docker-engine.ts";
import type { Abilities, Ability } from "./isolation.ts";

interface Problem {
  reason: string;
  /** Whether the packages of the requirement would help. */
  isPackage: boolean;
}

interface Requirement {
  /** Why this machine does not meet it; undefined where it does. */
  problem(): Problem | undefined;
  /** Elsewhere nothing can provide it, and TRL_TEST_STRICT does not ask for it. */
  isLinuxOnly?: true;
  /** Packages that provide it. */
  apt?: string[];
  brew?: string[];
  /** What helps where no package does. */
  hint?: string;
}

const { platform } = process;
/** Not that of program.ts, which refuses one that is missing or old. */
const binary = join(import.meta.dir, "../../dist/trl");
/** Servers live in directories that an ordinary user's PATH lacks. */
const serverPath = `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;

export const isRoot = process.getuid?.() === 0;
export const findProgram = (name: string): string | undefined =>
  Bun.which(name, name === "sshd" || name === "dockerd" ? { PATH: serverPath } : {}) ?? undefined;
export const findBrowser = (): string | undefined =>
  ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"].map(findProgram).find(Boolean) ??
  [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ].find((path) => existsSync(path));

function succeeds(argv: string[]): boolean {
  if (!findProgram(argv[0]!)) return false;
  return Bun.spawnSync(argv, { stdio: ["ignore", "ignore", "ignore"], timeout: 10_000 }).success;
}

const outputOf = (argv: string[]): string => {
  const { stdout, stderr } = Bun.spawnSync(argv, { stdin: "ignore", timeout: 10_000 });
  return `${stdout}${stderr}`;
};

/** Its usage lists its options as `[-46CDdFhklNnrStUuvZz]`. */
const isOpenBsdNetcat = (): boolean => /\[-\w*N\w*U/.test(outputOf(["nc", "-h"]));

const isVim = (): boolean => outputOf(["vi", "--version"]).includes("VIM");

const cannot = (reason: string): Problem => ({ reason, isPackage: false });
const lacks = (reason: string): Problem => ({ reason, isPackage: true });

const notInstalled = (name: string): Problem | undefined =>
  findProgram(name) ? undefined : lacks(`${name} is not installed`);

const program = (name: string, apt = name, brew = apt): Requirement => ({
  problem: () => notInstalled(name),
  apt: [apt],
  brew: [brew],
});

const onlyRoot = (why: string): Problem | undefined => (isRoot ? undefined : cannot(why));

const onLinux = (requirement: Requirement): Requirement => ({
  ...requirement,
  isLinuxOnly: true,
  problem: () => (platform === "linux" ? requirement.problem() : cannot("this is not Linux")),
});

/** For tests of an accelerator's own effect, which TRL_FAST may switch off. */
const switches = parseFast(process.env["TRL_FAST"]);
export const isFast = (name: AcceleratorName): boolean => switches[name];

const accelerators = Object.fromEntries(
  acceleratorNames.map((name): [AcceleratorName, Requirement] => [
    name,
    {
      problem: () => (isFast(name) ? undefined : cannot("TRL_FAST switches it off")),
      hint: "run the tests without TRL_FAST",
    },
  ]),
) as Record<AcceleratorName, Requirement>;

const table = {
  ...accelerators,
  linux: onLinux({ problem: () => undefined, hint: "run the tests on Linux" }),
  root: { problem: () => onlyRoot("the tests are not run by root"), hint: "run the tests as root" },
  "other users": onLinux({
    problem: () => onlyRoot("only root can act as another user") ?? otherUserProblem(),
    hint: "run the tests as root, in a directory that others can enter",
  }),
  "setuid programs": onLinux({
    problem: () => onlyRoot("only root can make them") ?? otherUserProblem() ?? setuidProblem(),
    hint: "run the tests as root, where files for temporary use may change the user (no nosuid)",
  }),
  mount: onLinux({
    problem: () => onlyRoot("only root can mount") ?? mountProblem(),
    hint: "run the tests as root, outside of an unprivileged container",
  }),
  limits: onLinux({
    problem: () =>
      isolationProblem(({ limits }) => [limits["memory_bytes"], limits["cpu_percent"], limits["pids"]]),
    hint: "run the tests as root, where control groups can be written",
  }),
  sandbox: onLinux({
    problem: () => notInstalled("bwrap") ?? isolationProblem(({ sandbox }) => [sandbox]),
    apt: ["bubblewrap"],
    hint: "bubblewrap must be allowed to make user namespaces",
  }),
  "user namespaces": onLinux({
    problem: () => notInstalled("bwrap") ?? namespaceProblem(),
    apt: ["bubblewrap"],
    hint: "ordinary users must be allowed to make user namespaces",
  }),
  dash: program("dash", "dash", "dash-shell"),
  zsh: program("zsh"),
  fish: program("fish"),
  tcsh: program("tcsh"),
  shellcheck: program("shellcheck"),
  tmux: program("tmux"),
  socat: program("socat"),
  nc: {
    problem: () => notInstalled("nc") ?? (isOpenBsdNetcat() ? undefined : lacks("this nc lacks -N or -U")),
    apt: ["netcat-openbsd"],
  },
  curl: program("curl"),
  less: program("less"),
  openssl: program("openssl"),
  python3: {
    problem: () =>
      notInstalled("python3") ??
      (succeeds(["python3", "-c", ""]) ? undefined : lacks("python3 does not run")),
    apt: ["python3"],
    brew: ["python3"],
  },
  vim: {
    problem: () => notInstalled("vi") ?? (isVim() ? undefined : lacks("vi is not Vim")),
    apt: ["vim-tiny"],
    brew: ["vim"],
  },
  cc: onLinux({ ...program("cc"), apt: ["gcc", "libc6-dev"] }),
  prlimit: onLinux(program("prlimit", "util-linux")),
  top: onLinux(program("top", "procps")),
  "systemd-analyze": onLinux(program("systemd-analyze", "systemd")),
  busybox: onLinux({ problem: busyboxProblem, apt: ["busybox-static"] }),
  sshd: {
    problem: () =>
      notInstalled("sshd") ?? notInstalled("ssh") ?? notInstalled("ssh-keygen") ?? accountProblem(),
    apt: ["openssh-server", "openssh-client"],
    brew: ["openssh"],
  },
  docker: onLinux({
    problem: () =>
      notInstalled("dockerd") ??
      notInstalled("docker") ??
      busyboxProblem() ??
      onlyRoot("only root can start a Docker engine") ??
      remembered("docker", () => dockerProblem(findProgram("dockerd")!)),
    apt: ["docker.io", "busybox-static"],
    hint: "run the tests as root, outside of an unprivileged container",
  }),
  chromium: {
    problem: () => (findBrowser() ? fontProblem() : lacks("chromium is not installed")),
    apt: ["chromium", "fonts-dejavu-core"],
    brew: ["--cask chromium"],
  },
  "macOS builds": {
    problem: () => notInstalled("npm") ?? remembered("macos-builds", macosBuildProblem),
    hint: "Bun for macOS is downloaded from the npm registry, which must be reachable",
  },
} satisfies Record<string, Requirement>;

export type RequirementName = keyof typeof table;
export const requirements: Record<RequirementName, Requirement> = table;

export const isRequirement = (name: string): name is RequirementName => Object.hasOwn(requirements, name);

/** Requirements that a machine is known to lack: TRL_TEST_WITHOUT=limits,docker. */
export const excepted = (process.env["TRL_TEST_WITHOUT"] ?? "").split(",").filter(Boolean);
export const isStrict = process.env["TRL_TEST_STRICT"] === "1";

/** Whether lacking it is a failure. */
export const mustBeMet = (name: RequirementName): boolean =>
  isStrict && isForThisPlatform(name) && !excepted.includes(name) && !Object.hasOwn(accelerators, name);

export const isForThisPlatform = (name: RequirementName): boolean =>
  platform === "linux" || !requirements[name].isLinuxOnly;

const problems = new Map<RequirementName, Problem | undefined>();

export function problemOf(name: RequirementName): Problem | undefined {
  if (!problems.has(name)) problems.set(name, requirements[name].problem());
  return problems.get(name);
}

/** Slow checks are shared by the processes of one run: its directory is in the environment. */
function remembered(key: string, check: () => string | undefined): Problem | undefined {
  const dir = process.env["TRL_TEST_RUN_DIR"];
  const file = dir && join(dir, `requirement-${key}`);
  const reason = file && existsSync(file) ? readFileSync(file, "utf8") : (check() ?? "");
  if (file) {
    writeFileSync(`${file}.${process.pid}`, reason); // another process may be reading
    renameSync(`${file}.${process.pid}`, file);
  }
  return reason ? cannot(reason) : undefined;
}

function otherUserProblem(): Problem | undefined {
  const asOther = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", "--inh-caps=-all"];
  if (!succeeds([...asOther, "true"])) return cannot("setpriv cannot change the user here");
  const isReachable = succeeds([...asOther, "test", "-x", join(import.meta.dir, "../..")]);
  return isReachable ? undefined : cannot("other users cannot enter the directory of the project");
}

function setuidProblem(): Problem | undefined {
  const dir = mkdtempSync(join(tmpdir(), "trl-test-setuid-"));
  const program = join(dir, "setpriv");
  chmodSync(dir, 0o755);
  copyFileSync(findProgram("setpriv")!, program);
  chmodSync(program, 0o4755);
  const asOther = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", "--inh-caps=-all"];
  const works = succeeds([...asOther, program, "--reuid=0", "true"]);
  rmSync(dir, { recursive: true });
  return works ? undefined : cannot("programs cannot change their user here");
}

/** ssh and its tools refuse to work for a uid that has no account, as in some containers. */
function accountProblem(): Problem | undefined {
  return succeeds(["id", "-un"]) ? undefined : cannot("this user has no account");
}

/** To compile for another platform, Bun downloads its own executable for it, once. */
function macosBuildProblem(): string | undefined {
  const isThere = succeeds(["npm", "view", `@oven/bun-darwin-x64@${Bun.version}`, "version"]);
  return isThere
    ? undefined
    : `the npm registry does not have Bun ${Bun.version} for macOS, or does not answer`;
}

/** What an ordinary user may do, also where root runs the tests. */
function namespaceProblem(): Problem | undefined {
  const asOrdinary = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    : [];
  const isAllowed = succeeds([...asOrdinary, "bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]);
  return isAllowed ? undefined : cannot("ordinary users may not make user namespaces here");
}

function mountProblem(): Problem | undefined {
  const dir = mkdtempSync(join(tmpdir(), "trl-test-mount-"));
  const isMounted = succeeds(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir]);
  if (isMounted) succeeds(["umount", dir]);
  rmSync(dir, { recursive: true });
  return isMounted ? undefined : cannot("nothing can be mounted here");
}

/** The tests copy it to where it has no libraries. */
function busyboxProblem(): Problem | undefined {
  if (!findProgram("busybox")) return notInstalled("busybox");
  const isDynamic = outputOf(["ldd", findProgram("busybox")!]).includes("=>");
  return isDynamic ? lacks("busybox is not statically linked") : undefined;
}

/** A browser without any font measures no characters. */
function fontProblem(): Problem | undefined {
  if (platform !== "linux") return undefined;
  const hasFonts = ["/usr/share/fonts", "/usr/local/share/fonts"].some(
    (dir) =>
      existsSync(dir) &&
      readdirSync(dir, { recursive: true }).some((name) => /\.(?:[to]tf|pfb)$/i.test(`${name}`)),
  );
  return hasFonts ? undefined : lacks("there is no font for chromium");
}

let isolation: Abilities | undefined;

/** Asks the executable, whose own checks decide. */
function isolationProblem(select: (isolation: Abilities) => (Ability | undefined)[]): Problem | undefined {
  if (!existsSync(binary)) return cannot("dist/trl is not built, and it decides");
  isolation ??= describeIsolation();
  for (const ability of select(isolation)) if (ability && !ability.available) return cannot(ability.reason);
  return undefined;
}

function describeIsolation(): Abilities {
  const dir = mkdtempSync(join(tmpdir(), "trl-test-describe-"));
  mkdirSync(join(dir, "run"), { mode: 0o700 });
  const { stdout, stderr } = Bun.spawnSync([binary, "--stdin", "--allow-root"], {
    env: { ...process.env, TRL_RUNTIME_DIR: join(dir, "run") },
    stdin: Buffer.from('{"id":"1","method":"system.describe","params":{}}\n'),
    timeout: 10_000,
  });
  rmSync(dir, { recursive: true });
  const line = stdout.toString().split("\n", 1)[0]!;
  if (!line) throw new Error(`dist/trl did not describe this machine:\n${stderr}`);
  return JSON.parse(line).data.capabilities.isolation;
}

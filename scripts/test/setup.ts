// `npm run test:setup`: installs the programs that tests can use, with apt on Debian and Ubuntu and Homebrew on macOS.
// Lists the packages and asks for confirmation, unless --yes is given.
import {
  isForThisPlatform,
  isRoot,
  problemOf,
  type RequirementName,
  requirements,
} from "../../test/support/requirements.ts";
import { type Manager, packageManager, packagesFor } from "./setup-plan.ts";

const usage = "Usage: npm run test:setup [-- --yes]\n\n  --yes  installs without asking";
const words = process.argv.slice(2);
if (words.includes("--help") || words.includes("-h")) stop(usage, 0);
const unknown = words.find((word) => word !== "--yes" && word !== "-y");
if (unknown !== undefined) stop(`unknown option ${unknown}\n\n${usage}`, 64);
const isAgreed = words.length > 0;

const names = Object.keys(requirements) as RequirementName[];
const installable = names.filter((name) => requirements[name].apt || requirements[name].brew);
const missing = installable.filter((name) => isForThisPlatform(name) && problemOf(name)?.isPackage);
for (const name of missing) console.log(`missing: ${name} (${problemOf(name)!.reason})`);
const manager = packageManager();
const packages = packagesFor(missing, manager ?? "apt");
if (packages.length === 0) stop("nothing to install", 0);
if (!manager) stop(`install these by hand, in Debian's names: ${packages.join(" ")}`, 1);

const sudo = isRoot ? "" : "sudo ";
// Package scripts must not start the servers: the tests start their own, on sockets and ports of their own.
const aptScript = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap '${sudo}rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' | ${sudo}tee $policy >/dev/null
  ${sudo}chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
${sudo}apt-get update -qq
found=
for package in ${packages.join(" ")}; do
  if [ "$(apt-cache policy "$package" | sed -n 's/^ *Candidate: //p')" = "(none)" ] || ! apt-cache show "$package" >/dev/null 2>&1
  then echo "not available: $package"; else found="$found $package"; fi
done
[ -z "$found" ] || ${sudo}apt-get install -y -qq --no-install-recommends $found >/dev/null
`;
const plans: Record<Manager, { by: string; script: string }> = {
  apt: { by: `${sudo}apt-get`, script: aptScript },
  brew: { by: "brew", script: `set -e\n${brewLines(packages).join("\n")}` },
};
const { by, script } = plans[manager];
console.log(`\nthis installs, by ${by}: ${packages.join(" ")}`);
if (!isAgreed && !confirm("go on?"))
  stop(
    process.stdin.isTTY ? "nothing was installed" : "nothing was installed; --yes installs without asking",
    1,
  );
process.exit(Bun.spawnSync(["sh", "-c", script], { stdio: ["inherit", "inherit", "inherit"] }).exitCode);

/** Each cask is installed by its own command. */
function brewLines(names: string[]): string[] {
  const formulae = names.filter((name) => !name.startsWith("--cask"));
  const casks = names.filter((name) => name.startsWith("--cask"));
  return [formulae.join(" "), ...casks].filter(Boolean).map((words) => `brew install ${words}`);
}

function stop(message: string, code: number): never {
  console.log(message);
  process.exit(code);
}

// Asks the npm registry for known vulnerabilities of the packages in bun.lock and fails if there are any. If the
// registry does not answer (a mirror, no network), prints that and succeeds: no answer says nothing about the packages.
// Usage: bun scripts/audit.ts [REGISTRY]
import { lockedPackages } from "./locked-packages.ts";

const timeoutMs = 15_000;
const [registry = npmRegistry()] = process.argv.slice(2);

/** The registry that npm is configured for. */
function npmRegistry(): string {
  return Bun.spawnSync(["npm", "config", "get", "registry"], { stdin: "ignore" }).stdout.toString().trim();
}

interface Advisory {
  title: string;
  severity: string;
  url: string;
  vulnerable_versions: string;
}

async function askRegistry(versions: Record<string, string[]>): Promise<Record<string, Advisory[]> | string> {
  const address = `${registry.replace(/\/$/, "")}/-/npm/v1/security/advisories/bulk`;
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(versions),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return `${address} answers with ${response.status}`;
    return (await response.json()) as Record<string, Advisory[]>;
  } catch (error) {
    return `${address}: ${(error as Error).message}`;
  }
}

const packages = lockedPackages();
const versions: Record<string, string[]> = {};
for (const { name, version } of packages) versions[name] = [...(versions[name] ?? []), version];
const answer = await askRegistry(versions);
if (typeof answer === "string") {
  console.log(`NOT AUDITED: ${answer}. The ${packages.length} locked packages were not checked.`);
  process.exit(0);
}
const found = Object.entries(answer).flatMap(([name, list]) =>
  list.map((advisory) => ({ name, ...advisory })),
);
for (const { name, severity, title, url, vulnerable_versions } of found)
  console.log(
    `${name} ${versions[name]?.join(", ")} (${vulnerable_versions}): ${severity}: ${title}, ${url}`,
  );
console.log(`${packages.length} locked packages, ${found.length} known vulnerabilities`);
process.exit(found.length > 0 ? 1 : 0);

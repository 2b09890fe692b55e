// Installs the pinned dependencies (Bun itself among them) when they are missing or out of date,
// so that `npm start` and `npm test` work on a fresh clone with only Node.js and npm.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = `${root}node_modules/.trl-installed`;
const wanted = createHash("sha256")
  .update(readFileSync(`${root}package.json`))
  .update(readFileSync(`${root}bun.lock`))
  .digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const install = spawnSync(
    "npx",
    ["--yes", `bun@${dependencies.bun}`, "install", "--frozen-lockfile"],
    { cwd: root, stdio: ["ignore", 2, 2] }, // stdout stays clean: it belongs to the program
  );
  if (install.status !== 0) {
    console.error("trl: the dependencies could not be installed; is the npm registry reachable?");
    process.exit(install.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}

// Checks trl's version, the platform and the user.
import { release } from "node:os";
import { version } from "../../util/version.ts";
import { ownProgram } from "../own-program.ts";
import { quoteWords } from "../shell-words.ts";
import { type Check, note, ok, problem } from "./check.ts";

const group = "program";

export const programChecks: Check[] = [
  { id: "version", group, run: () => ok(`trl ${version}`, { detail: quoteWords(ownProgram()) }) },
  { id: "bun", group, run: () => ok(`Bun ${Bun.version}, which is part of it`) },
  { id: "system", group, run: checkSystem },
  { id: "user", group, run: checkUser },
];

function checkSystem() {
  const system = `${process.platform} ${process.arch}, kernel ${release()}`;
  const isKnown = process.platform === "linux" || process.platform === "darwin";
  if (isKnown) return ok(system);
  return problem(`${system}: trl is for Linux and macOS`, { remedy: "on Windows, use it within WSL" });
}

function checkUser() {
  const uid = process.getuid?.();
  if (uid !== 0) return ok(`user ${uid}`);
  return note("you are root", {
    detail: "every command of a daemon that you start is root's, too",
    remedy: "start it as the user that the commands should run as",
  });
}

import { type Finding, note, ok } from "./check.ts";
import { absent, ask, late, why } from "./query.ts";

export async function checkSandboxExec(): Promise<Finding> {
  const answer = await ask("sandbox-exec", "-p", "(version 1)(allow default)", "/usr/bin/true");
  if (!answer) return absent("sandbox-exec", "it comes with macOS");
  if (answer.isLate) return late("sandbox-exec");
  return answer.code === 0
    ? ok("sandbox-exec works")
    : note(`sandbox-exec does not work here: ${why(answer)}`);
}

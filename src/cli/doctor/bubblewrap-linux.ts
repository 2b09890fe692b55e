import { type Finding, note, ok } from "./check.ts";
import { absent, ask, late, why } from "./query.ts";

export async function checkBubblewrap(): Promise<Finding> {
  const answer = await ask("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true");
  if (!answer)
    return absent("bubblewrap", "it can give programs a file system and a process table of their own");
  if (answer.isLate) return late("bwrap");
  if (answer.code === 0) return ok("bubblewrap works");
  return note(`bubblewrap does not work here: ${why(answer)}`, {
    remedy:
      "it needs user namespaces; see kernel.unprivileged_userns_clone and AppArmor's restrictions on them",
  });
}

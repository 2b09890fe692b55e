// A command whose shell fails before it begins: an error with what the shell said, never a result of the command.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needsShell } from "../../support/needs.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon();
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** How a shell fails, as lines of a shell. */
const failures = {
  "prints a syntax error": "echo 'syntax error near unexpected token' >&2; exit 2",
  "exits with success": "exit 0",
  "is killed": "kill -9 $$",
  "dies after its state": "cat <&3 >/dev/null; echo 'out of memory' >&2; exit 1",
  "dies after its prologue": "cat <&3 >/dev/null; cat <&4 >/dev/null; exit 3",
};

interface BrokenShell {
  path: string;
  /** The file that the command makes. */
  ran: string;
  break(): void;
}

/** A shell that works until it is broken. */
function shellThat(failure: string, name: string): BrokenShell {
  const dir = mkdtempSync(`${daemon.dir}/shell-`);
  const path = `${dir}/${name}`;
  const script = `#!/bin/sh\n[ ! -e ${dir}/broken ] || { ${failure}; }\nexec ${Bun.which(name)} "$@"\n`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return { path, ran: `${dir}/ran`, break: () => writeFileSync(`${dir}/broken`, "") };
}

interface Reply {
  error?: { code: string; message: string };
}

/** The reply to the first command without a shell from before the shell was broken. */
async function replyOfBroken(session_id: string, { ran }: BrokenShell): Promise<Reply> {
  for (let runs = 0; ; runs++) {
    rmSync(ran, { force: true });
    const reply = await wire.request("exec.run", { session_id, command: `(touch ${ran}); true` });
    if (!existsSync(ran) || runs === 3) return reply;
  }
}

for (const name of ["bash", "zsh", "sh"])
  for (const [how, failure] of Object.entries(failures))
    needsShell(name).test(`a ${name} that ${how}`, async () => {
      const shell = shellThat(failure, name);
      const { session_id } = await wire.call("session.create", { shell: shell.path });
      await wire.call("exec.run", { session_id, command: "x=kept" });
      shell.break();
      const { error } = await replyOfBroken(session_id, shell);
      expect(error?.code).toBe("SPAWN_FAILED");
      expect(error!.message).toContain(`${shell.path} ended before the command began`);
      for (const [, said] of failure.matchAll(/'(.*)'/g)) expect(error!.message).toContain(said!);

      const { stream_id } = await wire.call("exec.stream", {
        session_id,
        command: `(touch ${shell.ran}); true`,
      });
      const exit = await wire.frame((frame) => frame["type"] === "exit" && frame["stream_id"] === stream_id);
      expect(exit).toMatchObject({ reason: "lost", exit_code: 255, error: { code: "SPAWN_FAILED" } });
      expect((await wire.fail("exec.wait", { stream_id })).code).toBe("STREAM_NOT_FOUND");
      expect(existsSync(shell.ran)).toBe(false);
    });

test("the state is kept, and a command that removes its shell's files has its own exit code", async () => {
  const shell = shellThat(failures["exits with success"], "bash");
  const { session_id } = await wire.call("session.create", { shell: shell.path });
  await wire.call("exec.run", { session_id, command: "x=kept; cd /usr" });
  shell.break();
  await replyOfBroken(session_id, shell);
  rmSync(shell.path.replace(/bash$/, "broken"));
  const { stdout } = await wire.call("exec.run", { session_id, command: "echo $x; pwd" });
  expect(stdout).toBe("kept\n/usr\n");
  const removing = 'rm -rf "${BASH_SOURCE%/*}"; (exit 7)';
  expect(await wire.call("exec.run", { session_id, command: removing })).toMatchObject({ exit_code: 7 });
});

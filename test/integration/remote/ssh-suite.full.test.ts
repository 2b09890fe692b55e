// Core, streaming and terminals in a runtime of kind ssh, from the same tests as on the host.
import { afterAll } from "bun:test";
import { endSshRuntime } from "../../support/ssh-runtime.ts";
import { runIn } from "../../support/transport.ts";

runIn("ssh", ["exec/exec", "session/session", "exec/stream", "terminal/terminal"], "sshd");
afterAll(endSshRuntime, 60_000);

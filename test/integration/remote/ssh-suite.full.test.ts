// Core, streaming and terminals in a runtime of kind ssh, from the same tests as on the host.
import { afterAll } from "bun:test";
import { endSshPlace } from "../../support/ssh-runtime.ts";
import { runIn } from "../../support/transport.ts";

runIn("ssh", ["exec/exec", "session/session", "exec/stream", "terminal/terminal"], "sshd");
afterAll(endSshPlace, 60_000);

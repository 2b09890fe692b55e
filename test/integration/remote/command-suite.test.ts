// Core, streaming and terminals in a runtime of kind command, from the same tests as on the host. The proxy is one for
// all runtimes, so `npm test` runs them over this one; test:full runs them over socket, ssh and docker as well.
import { runIn } from "../../support/transport.ts";

runIn("command", ["exec/exec", "session/session", "exec/stream", "terminal/terminal"]);

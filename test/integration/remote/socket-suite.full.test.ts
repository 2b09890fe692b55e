// Core, streaming and terminals in a runtime of kind socket, from the same tests as on the host.
import { runIn } from "../../support/transport.ts";

runIn("socket", ["exec/exec", "session/session", "exec/stream", "terminal/terminal"]);

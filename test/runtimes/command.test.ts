// Streaming and terminals in a runtime of kind command, from the same tests as on the host.
import { runIn } from "../support/transport.ts";

runIn("command", ["stream", "pty"]);

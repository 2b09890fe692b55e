// Core and streaming over standard input and output, from the same tests as over the socket.
import { runOver } from "../../support/transport.ts";

runOver("stdin", ["exec/exec", "session/session", "exec/stream"]);

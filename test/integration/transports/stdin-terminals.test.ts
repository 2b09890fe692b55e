// Terminals over standard input and output, from the same tests as over the socket.
import { runOver } from "../../support/transport.ts";

runOver("stdin", ["terminal/terminal"]);

// Terminals over HTTP, from the same tests as over the socket.
import { runOver } from "../../support/transport.ts";

runOver("http", ["terminal/terminal"]);

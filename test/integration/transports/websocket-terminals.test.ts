// Terminals over WebSocket, from the same tests as over the socket.
import { runOver } from "../../support/transport.ts";

runOver("websocket", ["terminal/terminal"]);

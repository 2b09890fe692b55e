// Core and streaming over WebSocket, from the same tests as over the socket.
import { runOver } from "../../support/transport.ts";

runOver("websocket", ["exec/exec", "session/session", "exec/stream"]);

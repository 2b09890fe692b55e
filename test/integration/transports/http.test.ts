// Core and streaming over HTTP, from the same tests as over the socket: a POST for each request.
import { runOver } from "../../support/transport.ts";

runOver("http", ["exec/exec", "session/session", "exec/stream"]);

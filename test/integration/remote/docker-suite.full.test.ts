// Core, streaming and terminals in a runtime of kind docker, from the same tests as on the host.
import { afterAll } from "bun:test";
import { endDockerRuntime } from "../../support/docker-runtime.ts";
import { runIn } from "../../support/transport.ts";

runIn("docker", ["exec/exec", "session/session", "exec/stream", "terminal/terminal"], "docker");
afterAll(endDockerRuntime, 60_000);

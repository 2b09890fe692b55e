// Core, streaming and terminals in a runtime of kind docker, from the same tests as on the host.
import { afterAll } from "bun:test";
import { endDockerPlace } from "../support/docker-place.ts";
import { runIn } from "../support/transport.ts";

runIn("docker", ["exec", "session", "stream", "pty"], "docker");
afterAll(endDockerPlace, 60_000);

// Connector for a container, by `docker exec`: a running one, or one that is created from an image and removed again.
import { TrlError } from "../../protocol/errors.ts";
import type { ConnectorContext } from "./connector.ts";
import { ImageContainer } from "./image-container.ts";
import {
  type Channel,
  type ShellConnection,
  type ShellConnectorOptions,
  shellConnector,
} from "./shell-connector.ts";

export interface DockerSpec extends ShellConnectorOptions {
  /** Name or id of a running container. */
  container?: string | undefined;
  /** Or an image, from which a container is created. */
  image?: string | undefined;
  /** For `docker exec`, or for `docker run` with an image. */
  options?: readonly string[] | undefined;
  /** Instead of `docker`: `["podman"]`, `["docker", "--context", "build"]`. */
  program?: readonly string[] | undefined;
}

/** Messages of Docker and Podman for a container that is stopped or missing. A paused one is neither. */
const goneMessages =
  /no such container|is not running|no container with name or id|can only create exec sessions on running|container state improper|cannot exec in a stopped|already been removed/i;

export function dockerConnector(spec: DockerSpec, context: ConnectorContext): ShellConnection {
  const { container, image, options = [], program: docker = ["docker"] } = spec;
  if ((container === undefined) === (image === undefined))
    throw new TrlError("INVALID_PARAMS", "docker: either a container or an image is needed");
  const exec = (id: string, more: readonly string[], script: string) => [
    ...[...docker, "exec", "-i", ...more],
    ...[id, "sh", "-c", script],
  ];
  if (container !== undefined) {
    const command = async (script: string) => exec(container, options, script);
    return shellConnector({ ...common(container), command }, context, spec);
  }
  const created = new ImageContainer({ docker, image: image!, options, env: context.env });
  const channel: Channel = {
    ...common(image!),
    command: async (script, onlyIfRunning) =>
      exec(await (onlyIfRunning ? created.find() : created.get()), [], script),
    forget: () => created.forget(),
    dispose: () => created.remove(),
  };
  return shellConnector(channel, context, spec);
}

const common = (target: string) => ({
  label: `docker ${target}`,
  target,
  isContainer: true,
  isSlow: false, // the container engine is usually on this machine
  isGone: (stderr: string) => goneMessages.test(stderr),
});

// A daemon in a container: one that runs, or one that is made from an image and removed again.
import { TrlError } from "../../protocol/errors.ts";
import { ImageContainer } from "./image-container.ts";
import {
  type Channel,
  type ConnectorContext,
  type ShellConnection,
  type ShellConnectorOptions,
  shellConnector,
} from "./shell-connector.ts";

export interface DockerSpec extends ShellConnectorOptions {
  /** Name or id of one that runs. */
  container?: string | undefined;
  /** Or an image, of which one is made. */
  image?: string | undefined;
  /** For `docker exec`, or with an image for `docker run`. */
  options?: readonly string[] | undefined;
  /** Instead of `docker`: `["podman"]`, `["docker", "--context", "far"]`. */
  program?: readonly string[] | undefined;
}

/** As Docker and Podman say that a container does not run, or is not. A paused one is neither. */
const goneWords =
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
  const made = new ImageContainer({ docker, image: image!, options, env: context.env });
  const channel: Channel = {
    ...common(image!),
    command: async (script, merelyLooks) => exec(await (merelyLooks ? made.find() : made.get()), [], script),
    forget: () => made.forget(),
    dispose: () => made.remove(),
  };
  return shellConnector(channel, context, spec);
}

const common = (target: string) => ({
  label: `docker ${target}`,
  target,
  isContainer: true,
  isSlow: false, // the engine is on this machine, most of the time
  isGone: (words: string) => goneWords.test(words),
});

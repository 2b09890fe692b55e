// Connector for a pod, by `kubectl exec`, with kubectl's own configuration and credentials.
import type { ConnectorContext } from "./connector.ts";
import { type ShellConnection, type ShellConnectorOptions, shellConnector } from "./shell-connector.ts";

export interface KubernetesSpec extends ShellConnectorOptions {
  /** `NAME`, or `deploy/NAME` and the like for any of its pods. */
  pod: string;
  namespace?: string | undefined;
  /** Needed if the pod has several. */
  container?: string | undefined;
  /** A context of kubectl's configuration. */
  context?: string | undefined;
  /** Instead of `kubectl`. */
  program?: readonly string[] | undefined;
}

/** Messages for a pod that is missing or has completed. */
const goneMessages =
  /\(NotFound\)|pods? "[^"]*" not found|cannot exec into a container in a completed pod|container not found/i;

export function kubernetesConnector(spec: KubernetesSpec, context: ConnectorContext): ShellConnection {
  const { pod, namespace, container, program = ["kubectl"] } = spec;
  const flags = [
    ...(spec.context === undefined ? [] : ["--context", spec.context]),
    ...(namespace === undefined ? [] : ["--namespace", namespace]),
    ...(container === undefined ? [] : ["--container", container]),
  ];
  const target = [spec.context, namespace, pod, container].filter((it) => it !== undefined).join("/");
  return shellConnector(
    {
      label: `kubernetes ${target}`,
      target,
      isContainer: true,
      isSlow: true,
      command: async (script) => [...program, "exec", "-i", ...flags, pod, "--", "sh", "-c", script],
      isGone: (stderr) => goneMessages.test(stderr),
    },
    context,
    spec,
  );
}

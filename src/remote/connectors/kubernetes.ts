// A daemon in a pod, by `kubectl exec`: its configuration and credentials are used as they are.
import {
  type ConnectorContext,
  type ShellConnection,
  type ShellConnectorOptions,
  shellConnector,
} from "./shell-connector.ts";

export interface KubernetesSpec extends ShellConnectorOptions {
  /** `NAME`, or `deploy/NAME` and the like for any of its pods. */
  pod: string;
  namespace?: string | undefined;
  /** Where the pod has several. */
  container?: string | undefined;
  /** Of kubectl's configuration. */
  context?: string | undefined;
  /** Instead of `kubectl`. */
  program?: readonly string[] | undefined;
}

const goneWords =
  /\(NotFound\)|pods? "[^"]*" not found|cannot exec into a container in a completed pod|container not found/i;

export function kubernetesConnector(spec: KubernetesSpec, context: ConnectorContext): ShellConnection {
  const { pod, namespace, container, program = ["kubectl"] } = spec;
  const place = [
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
      command: async (script) => [...program, "exec", "-i", ...place, pod, "--", "sh", "-c", script],
      isGone: (words) => goneWords.test(words),
    },
    context,
    spec,
  );
}

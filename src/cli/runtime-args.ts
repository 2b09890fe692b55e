// Flags that choose the runtime of a new session or terminal.
import type { ArgsDef } from "citty";
import { hostRuntime } from "../protocol/runtime.ts";

export const runtimeArgs = {
  runtime: {
    type: "string",
    valueHint: "NAME",
    description: "Runtime of a new session or terminal; trl runtimes lists them (host)",
  },
  needs: {
    type: "string",
    valueHint: "LABELS",
    description: "Choose a runtime by labels that it must have, such as gpu,isolated",
  },
} as const satisfies ArgsDef;

export interface RuntimeChoice {
  params: { runtime?: string; needs?: string[] };
  /** Another runtime, or possibly one (labels): the caller's directory and environment do not apply. */
  isRemote: boolean;
}

export function runtimeChoiceFrom({
  runtime,
  needs,
}: {
  runtime?: string | undefined;
  needs?: string | undefined;
}): RuntimeChoice {
  const labels = (needs ?? "").split(",").flatMap((word) => word.trim() || []);
  return {
    params: {
      ...(runtime === undefined ? {} : { runtime }),
      ...(labels.length > 0 ? { needs: labels } : {}),
    },
    isRemote: (runtime ?? hostRuntime) !== hostRuntime || labels.length > 0,
  };
}

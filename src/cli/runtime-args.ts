// Where a new session or terminal is to live.
import type { ArgsDef } from "citty";
import { hostRuntime } from "../protocol/runtime.ts";

export const runtimeArgs = {
  runtime: {
    type: "string",
    valueHint: "NAME",
    description: "Where a new one is to live; trl runtimes lists the places (host)",
  },
  needs: {
    type: "string",
    valueHint: "LABELS",
    description: "The same by what a place must have, such as gpu,isolated",
  },
} as const satisfies ArgsDef;

export interface Place {
  params: { runtime?: string; needs?: string[] };
  /** Not on this machine, or not for certain: its directories and its environment mean nothing there. */
  isElsewhere: boolean;
}

export function runtimeChoiceFrom({
  runtime,
  needs,
}: {
  runtime?: string | undefined;
  needs?: string | undefined;
}): Place {
  const labels = (needs ?? "").split(",").flatMap((word) => word.trim() || []);
  return {
    params: {
      ...(runtime === undefined ? {} : { runtime }),
      ...(labels.length > 0 ? { needs: labels } : {}),
    },
    isElsewhere: (runtime ?? hostRuntime) !== hostRuntime || labels.length > 0,
  };
}

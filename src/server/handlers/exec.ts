import { TrlError } from "../../protocol/errors.ts";
import type { HandlerContext, Handlers } from "./handlers.ts";

export function execHandlers({ registry }: HandlerContext): Pick<Handlers, "exec.run"> {
  return {
    "exec.run": async ({ session_id, ...params }) => {
      const result = await registry.get(session_id).run(params);
      if (result.reason === "timeout") {
        const seconds = (result.duration_ms / 1000).toFixed(1);
        throw new TrlError("COMMAND_TIMEOUT", `the command was stopped after ${seconds} s`, result);
      }
      if (params.check && result.exit_code !== 0) {
        throw new TrlError("COMMAND_FAILED", `the command ended with exit code ${result.exit_code}`, result);
      }
      return result;
    },
  };
}

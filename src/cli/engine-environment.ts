// Settings of the JavaScript engine for a daemon that the CLI starts, as environment variables.
import { compileLater, withoutThreads } from "../util/engine-settings.ts";

/** A temporary daemon ends before `compileLater` has an effect. */
export async function engineSettings({ endsWithCaller = false } = {}): Promise<Record<string, string>> {
  return {
    ...(endsWithCaller ? {} : compileLater),
    ...((await hasFewProcesses()) ? withoutThreads : {}),
  };
}

async function hasFewProcesses(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  return (await import("../platform/linux/process-limit.ts")).hasFewProcesses();
}

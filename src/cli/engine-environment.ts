// Which settings of the JavaScript engine trl gives to a daemon that it starts.
import { compileLater, withoutThreads } from "../util/engine-settings.ts";

/** A daemon that ends with its caller is gone before `compileLater` matters. */
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

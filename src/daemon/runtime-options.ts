// Reads --config, --runtime and --labels. A flag wins over the configuration file.
import * as v from "valibot";
import { TrlError } from "../protocol/errors.ts";
import { hostRuntime, Label, RuntimeName } from "../protocol/runtime.ts";
import { specFromWords } from "../protocol/runtime-spec.ts";
import { type Config, type KnownRuntime, readConfig } from "./config.ts";
import type { FlagName } from "./flags.ts";
import { OptionError } from "./option-error.ts";

export function readRuntimeOptions(
  text: (name: FlagName) => string | undefined,
  env: Record<string, string>,
): Config {
  const config = readConfig(text("config"), env);
  const given = words(text("runtime")).map(runtimeFrom);
  const isGiven = ({ name }: KnownRuntime) => given.some((it) => it.name === name);
  const labels = text("labels");
  return {
    runtimes: [...config.runtimes.filter((it) => !isGiven(it)), ...given],
    labels: labels === undefined ? config.labels : words(labels).map(labelFrom),
  };
}

const words = (list: string | undefined): string[] =>
  (list ?? "").split(",").flatMap((word) => word.trim() || []);

function runtimeFrom(word: string): KnownRuntime {
  try {
    const found = specFromWords(word);
    if (found && found.name !== hostRuntime && v.is(RuntimeName, found.name))
      return { ...found, origin: "--runtime" };
  } catch (error) {
    if (!(error instanceof TrlError)) throw error;
    throw new OptionError(`--runtime ${word.split("=")[0]}: ${error.message}`);
  }
  throw new OptionError(`--runtime needs NAME=KIND:TARGET, such as gpu=ssh:user@host, not "${word}"`);
}

function labelFrom(word: string): string {
  if (v.is(Label, word)) return word;
  throw new OptionError(`--labels needs words such as gpu,isolated, not "${word}"`);
}

// Reads the configuration file: runtimes, and this daemon's own labels. Errors name the file and the key or the line.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { TrlError } from "../protocol/errors.ts";
import { Labels, RuntimeName, type RuntimeSpec } from "../protocol/runtime.ts";
import { specFrom } from "../protocol/runtime-spec.ts";
import { nearest } from "../util/nearest.ts";
import { OptionError } from "./option-error.ts";

export interface KnownRuntime {
  name: string;
  spec: RuntimeSpec;
  /** The flag, or the file and table, that defines it; for error messages. */
  origin: string;
}

export interface Config {
  labels: string[];
  runtimes: KnownRuntime[];
}

const emptyConfig: Config = { labels: [], runtimes: [] };
const topLevel = ["labels", "runtimes"];

/** A missing file is an error only if `asked` names it. */
export function readConfig(asked: string | undefined, env: Record<string, string>): Config {
  const path = asked ?? defaultPath(env);
  if (path === undefined) return emptyConfig;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (asked === undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return emptyConfig;
    throw new OptionError(`the configuration cannot be read: ${(error as Error).message}`);
  }
  const config = configFrom(parse(text, path), path);
  refuseOpenSecrets(config, path);
  return config;
}

function defaultPath({ XDG_CONFIG_HOME, HOME }: Record<string, string>): string | undefined {
  const base = XDG_CONFIG_HOME || (HOME && join(HOME, ".config"));
  return base ? join(base, "trl", "config.toml") : undefined;
}

function parse(text: string, path: string): Record<string, unknown> {
  try {
    return Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    const { message } = error as Error;
    throw new OptionError(
      `${path}, line ${lineOf(text, message)}: ${message.replace("TOML Parse error: ", "")}`,
    );
  }
}

/** Bun's parser reports no line: the first line with which the text up to it fails with the same message. */
function lineOf(text: string, complaint: string): number {
  const lines = text.split("\n");
  const failsAlike = (count: number) => {
    try {
      Bun.TOML.parse(`${lines.slice(0, count).join("\n")}\n`);
      return false;
    } catch (error) {
      return (error as Error).message === complaint;
    }
  };
  const first = lines.findIndex((_, index) => failsAlike(index + 1));
  return first === -1 ? lines.length : first + 1;
}

function configFrom(table: Record<string, unknown>, path: string): Config {
  for (const name of Object.keys(table)) {
    if (topLevel.includes(name)) continue;
    const meant = nearest(name, topLevel);
    throw new OptionError(`${path}: ${name}: not known here${meant ? `; is "${meant}" meant?` : ""}`);
  }
  const labels = checked(Labels, table["labels"] ?? [], `${path}: labels`);
  const runtimes = table["runtimes"] ?? {};
  if (!isTable(runtimes)) throw new OptionError(`${path}: runtimes: expected tables, such as [runtimes.gpu]`);
  return {
    labels,
    runtimes: Object.entries(runtimes).map(([name, fields]) => runtimeFrom(name, fields, path)),
  };
}

function runtimeFrom(name: string, fields: unknown, path: string): KnownRuntime {
  const key = `${path}: runtimes.${name}`;
  checked(RuntimeName, name, `${path}: the name "${name.slice(0, 80)}"`);
  if (!isTable(fields)) throw new OptionError(`${key}: expected a table with a kind`);
  try {
    return { name, spec: specFrom(fields), origin: `${path}: runtimes` };
  } catch (error) {
    if (error instanceof TrlError) throw new OptionError(`${key}.${error.message}`);
    throw error;
  }
}

function checked<S extends v.GenericSchema>(schema: S, value: unknown, key: string): v.InferOutput<S> {
  const outcome = v.safeParse(schema, value);
  if (outcome.success) return outcome.output;
  throw new OptionError(`${key}: expected ${outcome.issues[0].message}`);
}

/** As ssh does with keys: a token in a file that other users can read is refused. */
function refuseOpenSecrets({ runtimes }: Config, path: string): void {
  const secret = runtimes.find(({ spec }) => spec.kind === "http" && spec.token !== undefined);
  if (!secret || (statSync(path).mode & 0o077) === 0) return;
  throw new OptionError(
    `${path}: runtimes.${secret.name}.token: others can read this file; chmod 600 it, or give a token_file`,
  );
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

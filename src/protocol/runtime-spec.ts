// Parses the description of a runtime from a request, a table of the configuration or a flag.
import { TrlError } from "./errors.ts";
import { type RuntimeKind, type RuntimeSpec, runtimeKindNames, runtimeKinds } from "./runtime.ts";
import { validateObject } from "./validate.ts";

/** Throws INVALID_PARAMS with the name of the field; also for a field that the kind does not have. */
export function specFrom(fields: Record<string, unknown>): RuntimeSpec {
  const { kind, ...rest } = fields;
  if (typeof kind !== "string" || !runtimeKindNames.includes(kind as RuntimeKind))
    throw new TrlError("INVALID_PARAMS", `kind: expected one of ${runtimeKindNames.join(", ")}`);
  const schema = runtimeKinds[kind as RuntimeKind];
  const checked = validateObject(schema, rest);
  const unknown = Object.keys(rest).find((name) => rest[name] != null && !(name in schema.entries));
  if (unknown !== undefined) {
    const known = Object.keys(schema.entries).join(", ");
    throw new TrlError(
      "INVALID_PARAMS",
      `${unknown.slice(0, 64)}: a runtime of kind ${kind} has only ${known}`,
    );
  }
  const spec = { kind, ...checked } as RuntimeSpec;
  refuseContradictions(spec);
  return spec;
}

function refuseContradictions(spec: RuntimeSpec): void {
  if (spec.kind === "docker" && (spec.container === undefined) === (spec.image === undefined))
    throw new TrlError("INVALID_PARAMS", "container, image: expected one of the two");
  if (spec.kind === "http" && spec.token !== undefined && spec.token_file !== undefined)
    throw new TrlError("INVALID_PARAMS", "token, token_file: expected one of the two");
}

/** `gpu=ssh:user@host`, `box=https://host:9100`: a name, a kind and its target. Undefined if not of that form. */
export function specFromWords(text: string): { name: string; spec: RuntimeSpec } | undefined {
  const [, name, kind, target] = /^([^=]+)=(\w+):(.+)$/s.exec(text) ?? [];
  if (name === undefined || target === undefined) return undefined;
  if (target.startsWith("//")) return { name, spec: specFrom({ kind: "http", url: `${kind}:${target}` }) };
  const fields = Object.hasOwn(targetFields, kind!) ? targetFields[kind as RuntimeKind](target) : {};
  return { name, spec: specFrom({ kind, ...fields }) };
}

/** The fields that the short form of each kind gives. */
const targetFields: Record<RuntimeKind, (target: string) => Record<string, unknown>> = {
  socket: (path) => ({ path }),
  http: (url) => ({ url }),
  command: (words) => ({ argv: words.split(" ").filter((word) => word !== "") }),
  ssh: (host) => ({ host }),
  docker: (container) => ({ container }),
  kubernetes: (target) => {
    const [first = "", second] = target.split("/");
    return second === undefined ? { pod: first } : { namespace: first, pod: second };
  },
};

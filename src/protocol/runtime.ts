// Runtimes: daemons on other machines and in containers, and how each kind is reached.
import * as v from "valibot";
import { EnvOverrides, OsPath, OsText, Seconds, Timestamp } from "./fields.ts";

/** The daemon that gets the request. Always exists. */
export const hostRuntime = "host";

const plainWord = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const plainWordRule = "1 to 64 letters, digits, dots, dashes or underscores";

export const RuntimeName = v.pipe(v.string(), v.regex(plainWord, plainWordRule));
export const Label = v.pipe(v.string(), v.regex(plainWord, plainWordRule));
export const Labels = v.pipe(v.array(Label), v.maxLength(64, "at most 64 labels"));

/** An argument that a program cannot take for an option. */
const Operand = v.pipe(
  OsText,
  v.nonEmpty("a name"),
  v.check((text) => !text.startsWith("-"), "a name that does not begin with a dash"),
);
const Argv = v.pipe(v.array(OsText), v.nonEmpty("a program and its arguments"));
const Port = v.pipe(v.number(), v.integer("a port"), v.minValue(1, "a port"), v.maxValue(65535, "a port"));
const isWebAddress = (text: string) => /^(?:https?|wss?):\/\/[^/]/i.test(text) && URL.canParse(text);
const WebAddress = v.pipe(v.string(), v.check(isWebAddress, "an address such as https://host:9100"));

const Common = {
  labels: v.optional(Labels),
  patience_s: v.optional(
    v.pipe(
      Seconds,
      v.description("how long to reconnect after a lost link before running commands count as lost"),
    ),
  ),
};

/** Fields of the kinds that are reached by a command. */
const ByCommand = {
  ...Common,
  socket_path: v.optional(
    v.pipe(
      OsPath,
      v.description("socket of a daemon that already runs there, instead of one that trl starts"),
    ),
  ),
};
const Program = v.optional(v.pipe(Argv, v.description("the program to call, with its first arguments")));

/** The fields of each kind. */
export const runtimeKinds = {
  socket: v.object({ ...Common, path: OsPath }),
  http: v.object({
    ...Common,
    url: WebAddress,
    token: v.optional(v.pipe(v.string(), v.nonEmpty("a token"))),
    token_file: v.optional(OsPath),
  }),
  command: v.object({
    ...Common,
    argv: Argv,
    env: v.optional(EnvOverrides),
    working_dir: v.optional(OsPath),
  }),
  ssh: v.object({
    ...ByCommand,
    host: Operand,
    port: v.optional(Port),
    identity_file: v.optional(OsPath),
    options: v.optional(v.array(OsText)),
  }),
  docker: v.object({
    ...ByCommand,
    program: Program,
    container: v.optional(Operand),
    image: v.optional(Operand),
    options: v.optional(v.array(OsText)),
  }),
  kubernetes: v.object({
    ...ByCommand,
    program: Program,
    pod: Operand,
    namespace: v.optional(Operand),
    container: v.optional(Operand),
    context: v.optional(Operand),
  }),
} as const;

export type RuntimeKind = keyof typeof runtimeKinds;
export const runtimeKindNames = Object.keys(runtimeKinds) as RuntimeKind[];
export type SpecOf<K extends RuntimeKind> = { kind: K } & v.InferOutput<(typeof runtimeKinds)[K]>;
export type RuntimeSpec = { [K in RuntimeKind]: SpecOf<K> }[RuntimeKind];

/** The fields of all kinds; `runtimeKinds` has those of each kind. */
export const AddParams = v.object({
  name: RuntimeName,
  kind: v.picklist(runtimeKindNames),
  ...Common,
  path: v.optional(OsPath),
  url: v.optional(WebAddress),
  token: v.optional(v.string()),
  token_file: v.optional(OsPath),
  argv: v.optional(Argv),
  env: v.optional(EnvOverrides),
  working_dir: v.optional(OsPath),
  host: v.optional(Operand),
  port: v.optional(Port),
  identity_file: v.optional(OsPath),
  options: v.optional(v.array(OsText)),
  container: v.optional(Operand),
  image: v.optional(Operand),
  pod: v.optional(Operand),
  namespace: v.optional(Operand),
  context: v.optional(Operand),
  program: Program,
  socket_path: ByCommand.socket_path,
});
export type AddParams = v.InferOutput<typeof AddParams>;

export const runtimeStates = ["connected", "idle", "unavailable"] as const;

export const RuntimeInfo = v.object({
  name: RuntimeName,
  kind: v.picklist([hostRuntime, ...runtimeKindNames]),
  target: v.pipe(v.string(), v.description("its address, without secrets")),
  labels: Labels,
  state: v.picklist(runtimeStates),
  since: v.pipe(Timestamp, v.description("when it entered this state")),
  reason: v.nullable(v.string()),
  version: v.nullable(v.string()),
  running_commands: v.nullable(v.number()),
  sessions: v.pipe(v.number(), v.description("sessions and terminals in the routing table of this daemon")),
});
export type RuntimeInfo = v.InferOutput<typeof RuntimeInfo>;

export const RuntimeListResult = v.object({ runtimes: v.array(RuntimeInfo) });
export const NameParams = v.object({ name: RuntimeName });
export const RemoveParams = v.object({ name: RuntimeName, force: v.optional(v.boolean()) });
export const RemoveResult = v.object({ name: RuntimeName, removed: v.literal(true) });
export const CheckResult = v.object({
  name: RuntimeName,
  kind: RuntimeInfo.entries.kind,
  version: v.string(),
  platform: v.object({ os: v.string(), arch: v.string(), bun: v.string() }),
  latency_ms: v.number(),
  capabilities: v.record(v.string(), v.unknown()),
});

/** A runtime that does not answer, so a list lacks its entries. */
export const Unavailable = v.object({ runtime: RuntimeName, since: Timestamp, reason: v.string() });
export const UnavailableRuntimes = v.optional(v.array(Unavailable));
/** Data of RUNTIME_UNAVAILABLE, with whether the request may have been executed. */
export const UnavailableData = v.object({ ...Unavailable.entries, may_have_run: v.boolean() });
export type Unavailable = v.InferOutput<typeof Unavailable>;

/** Restricts a list to one runtime. */
export const ListParams = v.object({ runtime: v.optional(v.string()) });

export const RuntimeField = v.optional(
  v.pipe(v.string(), v.description("the runtime it runs in; `host` is the daemon that replies")),
);

// The method table as JSON Schema.
import { toJsonSchema } from "@valibot/to-json-schema";
import { lazy } from "../util/lazy.ts";
import { errorCodes } from "./errors.ts";
import { EnvOverrides, envOverridesJsonSchema, PlainObject } from "./fields.ts";
import { frontendMessages, frontendReplies } from "./frontend.ts";
import { methods, protocolVersion } from "./methods.ts";

export function schemaOf(schema: Parameters<typeof toJsonSchema>[0]) {
  return toJsonSchema(schema, {
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === EnvOverrides.pipe[0]) return envOverridesJsonSchema as never;
      return valibotSchema === PlainObject ? { type: "object" } : undefined;
    },
  });
}

export interface MethodSchemas {
  summary: string;
  repeatable: boolean;
  params: unknown;
  result: unknown;
  events?: Record<string, unknown>;
}

/** Computed once: the table never changes. */
export const methodSchemas = lazy(
  (): Record<string, MethodSchemas> =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        {
          summary: method.summary,
          repeatable: "isRepeatable" in method,
          params: schemaOf(method.params),
          result: schemaOf(method.result),
          ...("events" in method ? { events: schemasOf(method.events) } : {}),
        },
      ]),
    ),
);

/** The whole contract as one document, for other languages. */
export const contractSchemas = () => ({
  protocol_version: protocolVersion,
  methods: methodSchemas(),
  frontend_messages: schemasOf(frontendMessages),
  frontend_replies: frontendReplies,
  error_codes: errorCodes,
});

const schemasOf = (schemas: Record<string, Parameters<typeof schemaOf>[0]>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)]));

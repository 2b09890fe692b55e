// Schemas of the table as JSON Schema.
import { toJsonSchema } from "@valibot/to-json-schema";
import { EnvOverrides, envOverridesJsonSchema, PlainObject } from "../protocol/fields.ts";

export function schemaOf(schema: Parameters<typeof toJsonSchema>[0]) {
  return toJsonSchema(schema, {
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === EnvOverrides.pipe[0]) return envOverridesJsonSchema as never;
      return valibotSchema === PlainObject ? { type: "object" } : undefined;
    },
  });
}

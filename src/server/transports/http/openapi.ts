// The OpenAPI description of the HTTP transport, derived from the method table.
import { type ErrorCode, errorCodes } from "../../../protocol/errors.ts";
import { schemaOf } from "../../../protocol/json-schema.ts";
import { methods } from "../../../protocol/methods.ts";
import { version } from "../../../util/version.ts";

export function openApi() {
  const calls = Object.entries(methods).map(([name, { summary, params }]) => ({
    type: "object",
    title: name,
    description: summary,
    required: ["id", "method"],
    properties: { id: { type: ["string", "number"] }, method: { const: name }, params: schemaOf(params) },
  }));
  const results = Object.entries(methods).map(([name, { result }]) => ({ title: name, ...schemaOf(result) }));
  const post = {
    summary: "One request; where frames follow the reply, they are streamed.",
    requestBody: { required: true, content: { "application/json": { schema: { oneOf: calls } } } },
    responses: {
      "200": {
        description: "The reply, and the frames of a stream or a terminal behind it",
        content: {
          "application/json": { schema: { $ref: "#/components/schemas/Reply" } },
          "application/x-ndjson": { schema: { type: "string" } },
          "text/event-stream": { schema: { type: "string" } },
        },
      },
      ...errorResponses(),
    },
  };
  return {
    openapi: "3.1.0",
    info: { title: "trl", version, description: "Sessions, commands and terminals, by one request each." },
    security: [{ bearer: [] }],
    paths: {
      "/": { post },
      "/rpc": { post },
      "/ticket": { post: simple("A ticket for one WebSocket connection.") },
      "/ws": { get: simple("A WebSocket: a frame a message, both dialects.") },
      "/healthz": { get: { ...simple("Whether the daemon is alive."), security: [] } },
      "/metrics": { get: simple("Numbers for Prometheus.") },
      "/openapi.json": { get: simple("This description.") },
    },
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: {
        Reply: {
          type: "object",
          required: ["id", "ok", "data"],
          properties: { id: { type: ["string", "number"] }, ok: { const: true }, data: { anyOf: results } },
        },
        Error: {
          type: "object",
          required: ["id", "ok", "error"],
          properties: {
            id: { type: ["string", "number"] },
            ok: { const: false },
            error: {
              type: "object",
              required: ["code", "message"],
              properties: { code: { enum: Object.keys(errorCodes) }, message: { type: "string" }, data: {} },
            },
          },
        },
      },
    },
  };
}

const simple = (summary: string) => ({ summary, responses: { "200": { description: summary } } });

function errorResponses() {
  const byStatus = new Map<number, string[]>();
  for (const [code, { http }] of Object.entries(errorCodes) as [ErrorCode, { http: number }][]) {
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.join(", "),
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

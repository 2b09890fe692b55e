// `trl/protocol`: the wire contract alone, for programs with their own transport.
export type { Reply, Request } from "../protocol/envelope.ts";
export { type ErrorCode, errorCodes, TrlError } from "../protocol/errors.ts";
export { encodeFrame, LineDecoder } from "../protocol/frame.ts";
export type { FrontendMessage, FrontendReply, FrontendTag } from "../protocol/frontend.ts";
export { frontendMessages, frontendReplies } from "../protocol/frontend.ts";
export { contractSchemas, schemaOf } from "../protocol/json-schema.ts";
export type { MethodName, Params, Result } from "../protocol/methods.ts";
export { isMethodName, methods, protocolVersion } from "../protocol/methods.ts";
export { validateParams } from "../protocol/validate.ts";

// `trl/client` for Node.js and Bun.
import "../client/polyfill.ts";

export { NoDaemonError } from "../client/carriers/carrier.ts";
export { carrierTo, connect, discover } from "../client/connect.ts";
export { CommandError, ConnectionError, isTrlError } from "../client/errors.ts";
export { attachXterm } from "../client/xterm.ts";
export { TrlError } from "../protocol/errors.ts";
export type * from "./client-types.ts";

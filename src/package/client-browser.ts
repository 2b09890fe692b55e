// `trl/client` for browsers.
import "../client/polyfill.ts";

export { carrierTo, connect } from "../client/connect-browser.ts";
export { CommandError, ConnectionError, isTrlError } from "../client/errors.ts";
export { attachXterm } from "../client/xterm.ts";
export { TrlError } from "../protocol/errors.ts";
export type * from "./client-types.ts";

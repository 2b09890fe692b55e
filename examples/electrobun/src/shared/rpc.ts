// What the two sides say to each other, in Electrobun's terms: each side lists what it hears.
import type { RPCSchema } from "electrobun/view";
import type { BridgeMessage } from "./bridge.ts";

export type TerminalRPC = {
  bun: RPCSchema<{ messages: { toDaemon: BridgeMessage } }>;
  webview: RPCSchema<{ messages: { fromDaemon: BridgeMessage } }>;
};

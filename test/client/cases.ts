// Every case, by what it is about.
import { connecting } from "./cases/connecting.ts";
import { cuts } from "./cases/cuts.ts";
import { deaths } from "./cases/deaths.ts";
import { methodCases } from "./cases/methods.ts";
import { runs } from "./cases/runs.ts";
import { sessions } from "./cases/sessions.ts";
import { streamReaders } from "./cases/stream-readers.ts";
import { streams } from "./cases/streams.ts";
import { terminalFeeds } from "./cases/terminal-feeds.ts";
import { terminals } from "./cases/terminals.ts";
import type { Case } from "./world.ts";

export const cases: readonly Case[] = [
  ...deaths, // they wait longest
  ...cuts,
  ...connecting,
  ...methodCases,
  ...sessions,
  ...runs,
  ...streams,
  ...streamReaders,
  ...terminals,
  ...terminalFeeds,
];

// How large the executable is, beside the Bun that is in it.
import { statSync } from "node:fs";
import { row } from "../harness/rows.ts";
import type { Scenario } from "../harness/scenario.ts";

const megabytes = (path: string): number => statSync(path).size / 1e6;

export const size: Scenario = {
  name: "size",
  about: "the executable, beside Bun's own",
  async run({ binary }) {
    const bun = { name: "Bun's own executable", figure: { p50: megabytes(process.execPath) } };
    return {
      rows: [
        row({
          scenario: "size",
          name: "executable",
          unit: "MB",
          trl: { p50: megabytes(binary) },
          beside: bun,
        }),
      ],
    };
  },
};

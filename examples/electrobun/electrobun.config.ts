import type { ElectrobunConfig } from "electrobun";

export default {
  app: { name: "trl-terminal", identifier: "example.trl.terminal", version: "0.1.0" },
  build: {
    bun: { entrypoint: "src/bun/index.ts" },
    views: { mainview: { entrypoint: "src/mainview/index.ts" } },
    copy: {
      "src/mainview/index.html": "views/mainview/index.html",
      "src/mainview/index.css": "views/mainview/index.css",
      "node_modules/@xterm/xterm/css/xterm.css": "views/mainview/xterm.css",
    },
    mac: { bundleCEF: false },
    linux: { bundleCEF: false },
    win: { bundleCEF: false },
  },
} satisfies ElectrobunConfig;

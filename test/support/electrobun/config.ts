// Stands in for the types of `electrobun`: what the example's configuration uses.
export interface ElectrobunConfig {
  app: { name: string; identifier: string; version: string };
  build: {
    bun: { entrypoint: string };
    views: Record<string, { entrypoint: string }>;
    copy: Record<string, string>;
    mac: { bundleCEF: boolean };
    linux: { bundleCEF: boolean };
    win: { bundleCEF: boolean };
  };
}

// What is packed is all that is needed and no more, and every way to import it finds the right file and its types.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Packed, pack, root } from "./packed.ts";

let packed: Packed;
beforeAll(() => {
  packed = pack();
  cpSync(join(import.meta.dir, "consumer"), packed.dir, { recursive: true });
  packed.write("package.json", '{ "type": "module" }');
});
afterAll(() => packed[Symbol.dispose]());

const read = (file: string) => readFileSync(join(packed.dir, "node_modules/trl", file), "utf8");
const imports = (text: string) =>
  [...text.matchAll(/^(?:import|export)\b[^;"']*?["']([^"'\n]+)["'];?$|\bimport\("([^"]+)"\)/gm)].map(
    ([, at, lazy]) => at ?? lazy!,
  );

const filesIn = (exports: string | object): string[] =>
  typeof exports === "string" ? [exports] : Object.values(exports).flatMap(filesIn);

describe("the packed files", () => {
  test("are the built ones, the text for people, and nothing else", () => {
    const wanted =
      /^(?:package\.json|README\.md|LICENSE|dist\/package\/.+\.(?:js|js\.map|d\.ts|schema\.json))$/;
    expect(packed.files.filter((file) => !wanted.test(file))).toEqual([]);
    const { exports } = JSON.parse(read("package.json"));
    const named = filesIn(exports).map((file) => file.replace("./", ""));
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((file) => !packed.files.includes(file))).toEqual([]);
  });

  test("for Node.js and Bun bring all with them but what the engine has, and ws where it has not", () => {
    const outside = imports(read("dist/package/client.js"));
    expect(outside).toContain("ws");
    expect(outside.filter((name) => name !== "ws" && !name.startsWith("node:"))).toEqual([]);
  });

  test("for browsers import nothing, and know nothing of Node.js", () => {
    for (const file of ["client-browser.js", "protocol.js"]) {
      const text = read(`dist/package/${file}`);
      expect(imports(text)).toEqual([]);
      expect(text).not.toContain("node:");
      expect(text).not.toContain("process.env");
    }
  });

  test("are valid where there is no Node.js: a bundler for browsers takes them as they are", async () => {
    packed.write(
      "page.js",
      'import { connect } from "trl/client"; import "trl/protocol"; globalThis.connect = connect;',
    );
    const built = await Bun.build({ entrypoints: [join(packed.dir, "page.js")], target: "browser" });
    expect(built.success).toBe(true);
    const text = await built.outputs[0]!.text();
    expect(text).toContain("a browser reaches a daemon by its HTTP address");
    expect(text).not.toContain("createConnection");
  });
});

describe("imports:", () => {
  const names =
    "CommandError,ConnectionError,NoDaemonError,TrlError,attachXterm,carrierTo,connect,discover,isTrlError";
  const program = (module: string) =>
    `import * as all from "${module}"; console.log(Object.keys(all).sort().join())`;

  for (const engine of ["node", process.execPath]) {
    const name = engine === "node" ? "Node.js" : "Bun";

    test(`${name} finds the client, the protocol and its schema`, () => {
      packed.write("client.js", program("trl/client"));
      packed.write("protocol.js", program("trl/protocol"));
      expect(packed.run(engine, "client.js").stdout.trim()).toBe(names);
      expect(packed.run(engine, "protocol.js").stdout).toContain("validateParams");
      packed.write(
        "schema.js",
        'import { readFileSync } from "node:fs"; import { fileURLToPath } from "node:url";' +
          'const path = fileURLToPath(import.meta.resolve("trl/protocol/schema.json"));' +
          "console.log(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).length > 0)",
      );
      expect(packed.run(engine, "schema.js")).toMatchObject({ exitCode: 0, stdout: "true\n" });
    });

    test(`${name} is refused what is not exported`, () => {
      packed.write("inside.js", program("trl/dist/package/client.js"));
      expect(packed.run(engine, "inside.js").exitCode).not.toBe(0);
    });
  }

  test("the condition `browser` gives the build for browsers", () => {
    packed.write("where.js", 'console.log(import.meta.resolve("trl/client"))');
    expect(packed.run("node", "where.js").stdout).toEndWith("/dist/package/client.js\n");
    expect(packed.run("node", "--conditions=browser", "where.js").stdout).toEndWith("/client-browser.js\n");
  });
});

describe("types:", () => {
  const compile = (options: object) => {
    const compilerOptions = {
      target: "esnext",
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      ...options,
    };
    packed.write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions, files: ["uses-client.ts", "uses-protocol.ts"] }),
    );
    return packed.run(join(root, "node_modules/.bin/tsc"), "-p", ".").stdout;
  };

  const bundler = { module: "esnext", moduleResolution: "bundler", lib: ["esnext", "dom"], types: [] };

  test("in Node.js", () => {
    const node = { module: "nodenext", moduleResolution: "nodenext", lib: ["esnext"], types: ["node"] };
    expect(compile({ ...node, skipLibCheck: true })).toBe("");
  });

  test("for a bundler, to the last declaration, also where there are no types of Node.js", () => {
    expect(compile(bundler)).toBe("");
  });

  test("for a browser", () => {
    expect(compile({ ...bundler, customConditions: ["browser"], skipLibCheck: true })).toBe("");
  });
});

// Every word of help is looked at when it changes. A new verb needs its file: UPDATE_GOLDEN=1 makes it.
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json";
import { verbs } from "../../../src/cli/commands.ts";
import { expectGolden } from "../../support/golden.ts";
import { trl } from "../../support/trl.ts";

const generalFile = "trl.txt";

test("trl --help", async () => {
  const { code, out, err } = trl(["--help"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  await expectGolden(`help/${generalFile}`, out.replace(manifest.version, "VERSION"));
});

for (const verb of Object.keys(verbs)) {
  test(`trl ${verb} --help`, async () => {
    const { code, out, err } = trl([verb, "--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    await expectGolden(`help/${verb}.txt`, out);
    expect(trl(["help", verb]).out).toBe(out);
  });
}

test("no file is left of a verb that is gone", () => {
  const files = readdirSync(join(import.meta.dir, "../../fixtures/golden/help"));
  expect(files.sort()).toEqual([generalFile, ...Object.keys(verbs).map((verb) => `${verb}.txt`)].sort());
});

test("help for a verb that is none is told", () => {
  for (const words of [
    ["help", "sned"],
    ["sned", "--help"],
  ])
    expect(trl(words)).toMatchObject({ code: 64, out: "", err: expect.stringContaining("trl send") });
});

test("what is left over on the command line is told, not ignored", () => {
  for (const words of [
    ["ls", "x"],
    ["ps", "x"],
    ["top", "x"],
    ["stats", "x"],
    ["ping", "x"],
    ["doctor", "x"],
    ["token", "x"],
    ["serve", "x"],
    ["serve", "--verbose", "x"],
    ["run", "x", "--", "echo"],
  ])
    expect(trl(words)).toMatchObject({ code: 64, out: "", err: 'trl: "x" is one word too many\n' });
  for (const value of ["no", "false", ""])
    expect(trl(["stats", `--json=${value}`])).toMatchObject({
      code: 64,
      err: expect.stringContaining("--json takes no value"),
    });
  expect(trl([""])).toMatchObject({ code: 64, err: expect.stringContaining('no command ""') }); // no daemon is started
});

// The check of an executable that refuses the state names what the state needs a later schema version for.
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkExecutable, requireExpressible } from "../../../src/upgrade/check-executable.ts";
import type { SchemaAddition } from "../../../src/upgrade/schema/versions.ts";
import { tempDir } from "../../support/temp-dir.ts";

const added: SchemaAddition = {
  version: 2,
  path: "core.sessions[].timeZone",
  feature: "a session with a time zone",
  isUsed: (zone) => zone !== "UTC",
};

const documentWith = (timeZone: string) => {
  const path = join(import.meta.dir, "../../fixtures/upgrade/v1/idle.json");
  const document = JSON.parse(readFileSync(path, "utf8"));
  document.core.sessions[0].timeZone = timeZone;
  return document;
};

const ownership = { addRoot() {}, async removeRoot() {} };

async function check(lines: string, timeZone: string) {
  using dir = tempDir();
  const path = join(dir.path, "trl");
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo trl 0.9.0 && exit\n${lines}\n`);
  chmodSync(path, 0o755);
  return await checkExecutable(
    { path, words: ["serve"], env: process.env },
    documentWith(timeZone),
    ownership,
    [added],
  );
}

const refusal = "echo 'the state has schema version 2, and this program reads version 1' >&2; exit 1";

test("a program that ends without reading the state is reported by its exit code", async () => {
  const large = "x".repeat(1_000_000); // more than a pipe holds
  for (const zone of ["UTC", large])
    await expect(check("echo no luck >&2; exit 7", zone)).rejects.toThrow("it ended with 7: no luck");
});

test("a refusal is completed by what is in the way", async () => {
  await expect(check(refusal, "Europe/Berlin")).rejects.toThrow(
    /cannot take over this daemon: it ended with 1: .* reads version 1; a session with a time zone needs schema version 2$/,
  );
  await expect(check(refusal, "UTC")).rejects.toThrow(/reads version 1$/);
});

test("a reply without a schema version is that of a program with version 1", async () => {
  const reply = (more: object) =>
    `echo '${JSON.stringify({ understands: true, version: "0.9.0", ...more })}'`;
  expect(await check(reply({}), "UTC")).toMatchObject({ version: "0.9.0", schemaVersion: 1 });
  expect(await check(reply({ schemaVersion: 2, later: 1 }), "UTC")).toMatchObject({ schemaVersion: 2 });
});

test("state that has come into use since the check is refused before the exec", () => {
  const require = (zone: string, schemaVersion: number) => () =>
    requireExpressible(documentWith(zone), { path: "/opt/trl", version: "0.9.0", schemaVersion }, [added]);
  expect(require("Europe/Berlin", 1)).toThrow(
    "/opt/trl cannot take over this daemon: trl 0.9.0 reads schema versions up to 1; a session with a time zone needs schema version 2",
  );
  expect(require("Europe/Berlin", 2)).not.toThrow();
  expect(require("UTC", 1)).not.toThrow();
});

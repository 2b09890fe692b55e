// The suites of exec again with the shells of TRL_TEST_SHELLS, such as an old bash, as `bash` or as `sh`.
import { expect, test } from "bun:test";
import { furtherShells, runWithFurtherShells } from "../../support/shells.ts";

test("TRL_TEST_SHELLS names each shell and its path", () => {
  const shells = furtherShells("bash=/opt/bash-3.2  sh=/opt/of-4.4/sh");
  expect(shells).toEqual([
    { name: "bash", path: "/opt/bash-3.2" },
    { name: "sh", path: "/opt/of-4.4/sh" },
  ]);
  expect(furtherShells("")).toEqual([]);
  for (const wrong of ["bash", "bash=", "bash=bash-3.2", "=/opt/sh"])
    expect(() => furtherShells(wrong)).toThrow(`TRL_TEST_SHELLS: expected name=/path, not ${wrong}`);
});

runWithFurtherShells(["exec/shell-state", "exec/programs", "exec/line-state", "exec/line-variables"]);

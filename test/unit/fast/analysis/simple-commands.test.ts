import { expect, test } from "bun:test";
import { simpleCommands } from "../../../../src/fast/analysis/simple-commands.ts";

test("names within quotes parse in one way only", () => {
  expect(simpleCommands('echo "$a ${b}c $d"')?.[0]?.words).toEqual(["echo", '"$a ${b}c $d"']);
  const names = Array.from({ length: 200 }, (_, i) => `$a_rather_long_name_${i}`).join(" ");
  // With two ways to parse a name, the pattern would try 2 ** 200 combinations.
  for (const end of ["$(echo hi", '$(echo "hi)', '\\"', "`echo hi`", ""])
    expect(simpleCommands(`echo "${names} ${end}`)).toBeUndefined();
});

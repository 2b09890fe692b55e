// The summary of a run: what bun's report says, test by test, and what each missing requirement has cost.
import { expect, test } from "bun:test";
import { costs, countLine, readReport } from "../../../scripts/test/report.ts";

const xml = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="7">
  <testsuite name="test/a.test.ts" file="test/a.test.ts">
    <testsuite name="over ssh (needs sshd, docker)" file="test/a.test.ts" line="4">
      <testcase name="(unnamed)" classname="over ssh (needs sshd, docker)" time="0." file="test/a.test.ts">
        <skipped />
      </testcase>
      <testcase name="runs" classname="deep &gt; over ssh (needs sshd, docker)" time="0" file="test/a.test.ts">
        <skipped />
      </testcase>
    </testsuite>
    <testcase name="shows &lt;b&gt; &amp; &quot;c&quot; (needs sshd)" classname="" time="0" file="test/a.test.ts">
      <skipped />
    </testcase>
    <testcase name="passes" classname="" time="0.01" file="test/a.test.ts" assertions="1" />
    <testcase name="fails" classname="outer" time="0.01" file="test/a.test.ts" assertions="1">
      <failure type="AssertionError" message="x">1 &lt; 2&#10;</failure>
    </testcase>
    <testcase name="(unnamed)" classname="outer" time="0.01" file="test/a.test.ts">
      <failure type="Error" message="beforeAll" />
    </testcase>
  </testsuite>
</testsuites>`;

test("every test is one case, with its scopes from the outside in", () => {
  expect(readReport(xml).map(({ name, outcome }) => [name, outcome])).toEqual([
    ["over ssh (needs sshd, docker) > deep > runs", "skipped"],
    ['shows <b> & "c" (needs sshd)', "skipped"],
    ["passes", "passed"],
    ["outer > fails", "failed"],
    ["outer > (unnamed)", "failed"], // a hook that fails counts, one that is skipped does not
  ]);
});

test("a test counts for each requirement that it lacks", () => {
  expect(costs(readReport(xml))).toEqual([
    ["sshd", 2],
    ["docker", 1],
  ]);
});

test("the last line has all three counts", () => {
  expect(countLine(readReport(xml))).toBe("1 passed, 2 failed, 2 skipped");
  expect(countLine([])).toBe("0 passed, 0 failed, 0 skipped");
});

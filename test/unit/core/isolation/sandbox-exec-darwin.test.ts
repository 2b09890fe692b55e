// The profile of sandbox-exec. It is plain text, so the test runs on every system.
import { expect, test } from "bun:test";
import { sandboxProfile } from "../../../../src/core/isolation/sandbox-exec-darwin.ts";

const spec = {
  root: "/",
  network: false,
  privateTmp: "/tmp/trl-1-abcdef",
  writable: ["/Users/me/work", '/odd "name"'],
  hidden: ["/Users/me/.ssh"],
  ownDir: "/tmp/trl-1-ghijkl/1",
  secrets: ["/tmp/trl.sock"],
};

test("a profile denies writing and the network, except for listed paths", () => {
  expect(sandboxProfile(spec)).toBe(
    [
      "(version 1)",
      "(allow default)",
      "(deny file-write*)",
      '(allow file-write* (regex #"^/dev/(null|zero|tty.*|fd/.*|stdout|stderr)$") (subpath "/Users/me/work") (subpath "/odd \\"name\\"") (subpath "/private/tmp/trl-1-ghijkl/1") (subpath "/private/tmp/trl-1-abcdef"))',
      '(deny file-read* file-write* network* (subpath "/Users/me/.ssh"))',
      '(deny file-read* file-write* network* (subpath "/private/tmp/trl.sock"))',
      "(deny network*)",
    ].join("\n"),
  );
});

test("with `network` a profile does not deny it", () => {
  expect(sandboxProfile({ ...spec, network: true })).not.toContain("(deny network*)");
});

test("directories between a writable directory and a secret cannot be renamed", () => {
  const profile = sandboxProfile({ ...spec, secrets: ["/Users/me/work/a/b/x.sock"] });
  for (const path of ["/Users/me/work/a", "/Users/me/work/a/b"])
    expect(profile).toContain(`(deny file-write-unlink (literal "${path}"))`);
  expect(profile).not.toContain('(literal "/Users/me/work")');
});

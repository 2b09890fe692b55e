// The profile for macOS is made here and used there.
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

test("a profile forbids writing and the network, apart from what is listed", () => {
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

test("with the network, it is not forbidden", () => {
  expect(sandboxProfile({ ...spec, network: true })).not.toContain("(deny network*)");
});

test("what lies between a writable directory and a secret cannot be renamed", () => {
  const profile = sandboxProfile({ ...spec, secrets: ["/Users/me/work/a/b/x.sock"] });
  for (const path of ["/Users/me/work/a", "/Users/me/work/a/b"])
    expect(profile).toContain(`(deny file-write-unlink (literal "${path}"))`);
  expect(profile).not.toContain('(literal "/Users/me/work")');
});

import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  isGroupOfOwnerAlone,
  requireTrustedSocket,
  trustedDirsVariable,
  untrustedPart,
} from "../../../src/util/trusted-socket.ts";
import { needs } from "../../support/needs.ts";
import { strangerUid } from "../../support/other-user.ts";
import { tempDir } from "../../support/temp-dir.ts";

/** A directory, and one in it, with these modes. */
function nested(outerMode: number, innerMode = 0o700) {
  const dir = tempDir();
  const inner = join(dir.path, "inner");
  mkdirSync(inner);
  chmodSync(inner, innerMode);
  chmodSync(dir.path, outerMode);
  return { outer: dir.path, inner, [Symbol.dispose]: dir[Symbol.dispose] };
}

const untrusted = (directory: string, trusted = "") =>
  untrustedPart(directory, { [trustedDirsVariable]: trusted });
const problemOf = (directory: string, trusted?: string) => untrusted(directory, trusted)?.problem;

describe("the mode of a directory", () => {
  test.each([0o700, 0o755, 0o1777, 0o1775])("%o is safe, for the socket and above it", (mode) => {
    using dirs = nested(mode, mode);
    expect(untrusted(dirs.inner)).toBeUndefined();
  });

  test.each([0o777, 0o702, 0o757])("%o is not, and the error says which directory and what to do", (mode) => {
    using dirs = nested(0o700, mode);
    expect(problemOf(dirs.inner)).toContain(`may write to ${dirs.inner} (its mode is ${mode.toString(8)})`);
    expect(untrusted(dirs.inner)?.remedy).toContain(`chmod go-w ${dirs.inner}`);
    chmodSync(dirs.outer, mode);
    chmodSync(dirs.inner, 0o700);
    expect(problemOf(dirs.inner)).toContain(`may write to ${dirs.outer} `);
  });

  test("of a group counts unless the group is its owner's alone", () => {
    using dirs = nested(0o700, 0o770);
    const files = { passwd: readFileSync("/etc/passwd", "utf8"), group: readFileSync("/etc/group", "utf8") };
    const isOwnersAlone = isGroupOfOwnerAlone(statSync(dirs.inner), files);
    expect(problemOf(dirs.inner) === undefined).toBe(isOwnersAlone);
  });

  const ann = "ann:x:1000:1000::/home/ann:/bin/sh";
  test.each([
    ["its own", [ann], ["ann:x:1000:"], true],
    ["its own, which lists it", [ann], ["ann:x:1000:ann"], true],
    ["its own, with another number", ["ann:x:1000:2000::/:"], ["ann:x:2000:", "bob:x:1000:bob"], true, 2000],
    ["one with another member", [ann], ["ann:x:1000:ann,bob"], false],
    ["the primary group of another", [ann, "bob:x:1001:1000::/:"], ["ann:x:1000:"], false],
    ["one that only has the same number", [ann], ["staff:x:1000:"], false],
    ["of a user that no file knows", [], [], true],
    ["of a user that no file knows, with members", [], ["x:x:1000:bob"], false],
    ["another number that no file knows", [], [], false, 2000],
  ] as [string, string[], string[], boolean, number?][])(
    "of a group: %s",
    (_, passwd, group, isAlone, gid = 1000) => {
      const files = { passwd: `${passwd.join("\n")}\n`, group: `${group.join("\n")}\n` };
      expect(isGroupOfOwnerAlone({ uid: 1000, gid }, files)).toBe(isAlone);
    },
  );

  needs("other users").test("of a group of others", () => {
    using dirs = nested(0o700, 0o770);
    chownSync(dirs.inner, 0, strangerUid);
    expect(problemOf(dirs.inner)).toContain(`may write to ${dirs.inner} `);
  });
});

describe("the owner", () => {
  const { test } = needs("other users");

  test("of a directory is this user or root, all the way up", () => {
    using dirs = nested(0o755);
    chownSync(dirs.outer, strangerUid, strangerUid);
    const told = `${dirs.outer} belongs to another user (uid ${strangerUid})`;
    expect(problemOf(dirs.outer)).toContain(told);
    expect(problemOf(dirs.inner)).toContain(told);
  });

  test("of a link counts as well: it decides where the link leads", () => {
    using dirs = nested(0o1777);
    const link = join(dirs.outer, "link");
    symlinkSync("inner", link);
    expect(untrusted(link)).toBeUndefined();
    lchownSync(link, strangerUid, strangerUid);
    expect(problemOf(link)).toContain(`${link} belongs to another user`);
    expect(untrusted(dirs.inner)).toBeUndefined();
  });
});

test("a link is followed, and the directories on its path are checked", () => {
  using dirs = nested(0o777);
  using other = tempDir();
  const link = join(other.path, "link");
  symlinkSync(join(dirs.inner, "..", "inner"), link);
  expect(problemOf(link)).toContain(`may write to ${dirs.outer} `);
  symlinkSync(join(other.path, "loop"), join(other.path, "loop"));
  expect(() => untrusted(join(other.path, "loop"))).toThrow("ELOOP");
});

test("a directory that is named as trusted counts as safe, and all above it, but nothing below", () => {
  using dirs = nested(0o777, 0o777);
  const outer = `/nonexistent:relative:${dirs.outer}`;
  expect(untrusted(dirs.outer, outer)).toBeUndefined();
  expect(problemOf(dirs.inner, outer)).toContain(`may write to ${dirs.inner} `);
  expect(untrusted(dirs.inner, dirs.inner)).toBeUndefined();
  expect(problemOf(dirs.outer, dirs.inner)).toContain(`may write to ${dirs.outer} `);
});

describe("a socket", () => {
  test("that does not exist is the system's error, whichever part is missing", () => {
    using dirs = nested(0o755);
    for (const name of ["trl.sock", "missing/trl.sock"])
      expect(() => requireTrustedSocket(join(dirs.inner, name), {})).toThrow("ENOENT");
  });

  needs("other users").test("of another user is refused if others could have created it", () => {
    using dirs = nested(0o1777, 0o755);
    for (const directory of [dirs.outer, dirs.inner]) {
      writeFileSync(join(directory, "trl.sock"), "");
      chownSync(join(directory, "trl.sock"), strangerUid, strangerUid);
    }
    expect(() => requireTrustedSocket(join(dirs.outer, "trl.sock"), {})).toThrow("belongs to another user");
    requireTrustedSocket(join(dirs.inner, "trl.sock"), {}); // only a user with write access can have put it there
  });

  test("that is a link is checked by the directory of its target", () => {
    using open = nested(0o700, 0o777);
    using own = nested(0o700);
    writeFileSync(join(open.inner, "trl.sock"), "");
    writeFileSync(join(own.inner, "trl.sock"), "");
    const links = { open: join(own.inner, "open.sock"), own: join(own.outer, "own.sock") };
    symlinkSync(join(open.inner, "trl.sock"), links.open);
    symlinkSync("inner/../inner/trl.sock", links.own);
    expect(() => requireTrustedSocket(links.open, {})).toThrow(`may write to ${open.inner} `);
    requireTrustedSocket(links.own, {});
    symlinkSync("loop.sock", join(own.inner, "loop.sock"));
    expect(() => requireTrustedSocket(join(own.inner, "loop.sock"), {})).toThrow("ELOOP");
    symlinkSync("missing.sock", join(own.inner, "dangling.sock"));
    expect(() => requireTrustedSocket(join(own.inner, "dangling.sock"), {})).toThrow("ENOENT");
  });

  needs("other users").test(
    "of another user is refused behind a link, and so is a link of another user",
    () => {
      using shared = nested(0o1777);
      using own = nested(0o700);
      const socket = join(shared.outer, "trl.sock");
      const link = join(own.inner, "trl.sock");
      writeFileSync(socket, "");
      symlinkSync(socket, link);
      requireTrustedSocket(link, {});
      chownSync(socket, strangerUid, strangerUid);
      expect(() => requireTrustedSocket(link, {})).toThrow(`${socket} belongs to another user`);
      const foreign = join(shared.outer, "link.sock");
      writeFileSync(join(own.inner, "own.sock"), "");
      symlinkSync(join(own.inner, "own.sock"), foreign);
      requireTrustedSocket(foreign, {});
      lchownSync(foreign, strangerUid, strangerUid);
      expect(() => requireTrustedSocket(foreign, {})).toThrow(`${foreign} belongs to another user`);
    },
  );
});

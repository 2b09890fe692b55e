// The arguments of bubblewrap: deeper mounts come later and cover those above them.
import { expect, test } from "bun:test";
import { bubblewrapPrefix } from "../../../../src/core/isolation/bubblewrap-linux.ts";

const spec = {
  root: "/",
  network: false,
  privateTmp: "/var/tmp/private",
  writable: ["/usr/local/work", "/opt"],
  hidden: ["/usr/local"],
  ownDir: "/dev/shm/trl-1-abcdef/3",
  secrets: ["/tmp/trl.sock", "/etc/passwd"],
};

const mountsOf = (words: string[]) =>
  words
    .slice(words.indexOf("--ro-bind"), words.indexOf("--chdir"))
    .join(" ")
    .split(/ (?=--)/);

test("mounts are sorted by depth, in whatever order they are requested", () => {
  const words = bubblewrapPrefix("/usr/bin/bwrap", spec, "/opt");
  const isKernels = (mount: string) => mount.startsWith("--ro-bind-try /proc/");
  const mounts = mountsOf(words);
  expect(mounts.filter(isKernels)).toContain("--ro-bind-try /proc/sys /proc/sys");
  expect(mounts.findIndex(isKernels)).toBeGreaterThan(mounts.indexOf("--proc /proc"));
  expect(mounts.filter((mount) => !isKernels(mount))).toEqual([
    "--ro-bind / /",
    "--dev /dev",
    "--proc /proc",
    "--tmpfs /run",
    "--bind /var/tmp/private /tmp",
    "--bind /opt /opt",
    "--tmpfs /usr/local",
    "--ro-bind /dev/null /etc/passwd",
    "--bind /usr/local/work /usr/local/work",
    "--bind /dev/shm/trl-1-abcdef/3 /dev/shm/trl-1-abcdef/3",
  ]);
  expect(words).toContain("--unshare-net");
  expect(words.join(" ")).toContain("--cap-drop ALL");
  expect(words.slice(words.indexOf("--chdir"), words.indexOf("--") + 1)).toEqual(["--chdir", "/opt", "--"]);
});

test("a writable root is still covered by /dev and /proc", () => {
  const mounts = mountsOf(
    bubblewrapPrefix("bwrap", { ...spec, writable: ["/"], network: true, secrets: [] }, "/"),
  );
  expect(mounts.slice(0, 4)).toEqual(["--ro-bind / /", "--bind / /", "--dev /dev", "--proc /proc"]);
});

test("the daemon's files are hidden, unless another mount covers them already", () => {
  const { secrets } = spec;
  const seen = mountsOf(
    bubblewrapPrefix(
      "bwrap",
      { ...spec, privateTmp: undefined, secrets: [...secrets, "/run/x", "/dev/shm/y"] },
      "/",
    ),
  );
  expect(seen.filter((mount) => mount.includes("/dev/null"))).toEqual(["--ro-bind /dev/null /etc/passwd"]);
});

test("directories between a writable directory and a secret are mount points, unless they are hidden", () => {
  const pinnedWith = (given: Partial<typeof spec>) =>
    mountsOf(bubblewrapPrefix("bwrap", { ...spec, hidden: [], ...given }, "/")).filter((mount) =>
      mount.startsWith("--bind-try"),
    );
  const secrets = ["/opt/a/b/x.sock", "/opt/a/y.sock", "/opt/z.sock", "/srv/a/b"];
  expect(pinnedWith({ secrets })).toEqual(["--bind-try /opt/a /opt/a", "--bind-try /opt/a/b /opt/a/b"]);
  expect(pinnedWith({ secrets: [...secrets, "/opt/a"] })).toEqual([]);
  expect(pinnedWith({ secrets, hidden: ["/opt/a"] })).toEqual([]);
  expect(pinnedWith({ secrets: ["/dev/shm/a/b"], writable: ["/"] })).toEqual([]);
});

// The paths that a sandbox hides, from the environment and from discovery files.
import { describe, expect, test } from "bun:test";
import { chownSync, lchownSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { escapePaths } from "../../../../src/core/isolation/escape-paths.ts";
import { hiddenInside } from "../../../../src/core/isolation/resolve-sandbox.ts";
import { needs } from "../../../support/needs.ts";
import { strangerUid } from "../../../support/other-user.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const found = (env: Record<string, string>, runtimeDirs: string[] = []) => escapePaths({ env, runtimeDirs });

test("sockets that variables name, in each of their forms", () => {
  const forms: [name: string, value: string, path: string][] = [
    ["SSH_AUTH_SOCK", "/a/agent.1", "/a/agent.1"],
    ["GPG_AGENT_INFO", "/a/S.gpg-agent:123:1", "/a/S.gpg-agent"],
    ["DOCKER_HOST", "unix:///a/docker.sock", "/a/docker.sock"],
    ["CONTAINER_HOST", "unix:///a/podman.sock", "/a/podman.sock"],
    ["DBUS_SESSION_BUS_ADDRESS", "unix:path=/a/bus,guid=0f;unix:path=/a/other", "/a/other"],
  ];
  for (const [name, value, path] of forms) expect(found({ [name]: value })).toContain(path);
  expect(found({ DOCKER_HOST: "tcp://10.0.0.1:2376" })).toEqual(found({}));
  expect(found({ DBUS_SESSION_BUS_ADDRESS: "unix:abstract=/tmp/dbus-x" })).toEqual(found({}));
});

test("directories of services in the user's home", () => {
  for (const path of [".docker/run", ".ssh/agent", ".gnupg/S.gpg-agent"])
    expect(found({})).toContain(join(homedir(), path));
  expect(found({ GNUPGHOME: "/a" })).toContain("/a/S.gpg-agent");
});

test("a runtime directory as a whole, unless it holds the home or is open to others", () => {
  using dir = tempDir();
  expect(found({ XDG_RUNTIME_DIR: dir.path })).toContain(dir.path);
  for (const path of ["/tmp", "/", homedir()]) {
    expect(found({ XDG_RUNTIME_DIR: path })).not.toContain(path);
    expect(found({}, [path])).not.toContain(path);
  }
  expect(found({}, [dir.path])).toContain(dir.path);
});

test("only the files of daemons, if a runtime directory has other files as well", () => {
  using dir = tempDir();
  for (const name of ["daemons", "bin", "trl-1-abcdef"]) mkdirSync(join(dir.path, name));
  using _socket = socketAt(join(dir.path, "trl.sock"));
  expect(found({}, [dir.path])).toContain(dir.path);
  writeFileSync(join(dir.path, "README.md"), "");
  expect(found({}, [dir.path])).not.toContain(dir.path);
  for (const name of ["daemons", "trl.sock", "trl.token"])
    expect(found({}, [dir.path])).toContain(join(dir.path, name));
});

test("discovered daemons: a directory of their own as a whole, else their files, and their run directory", () => {
  using dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  for (const name of ["daemons", "own", "shared", "trl-1-abcdef"]) mkdirSync(at(name));
  for (const name of ["own/trl.sock", "own/trl.token", "shared/a.token", "shared/work"])
    writeFileSync(at(name), "");
  using _socket = socketAt(at("shared/a.sock"));
  writeFileSync(
    at("daemons/1.json"),
    JSON.stringify({ socket_path: at("own/trl.sock"), run_dir: at("trl-1-abcdef") }),
  );
  writeFileSync(at("daemons/2.json"), JSON.stringify({ socket_path: at("shared/a.sock") }));
  for (const [name, text] of [
    ["3.json", "{"],
    ["4.json", "null"],
    ["5.json", "[1]"],
    ["6.json", '{"socket_path":1}'],
  ])
    writeFileSync(at(`daemons/${name}`), text!);
  const paths = found({}, [dir.path]);
  for (const path of [
    at("own"),
    at("trl-1-abcdef"),
    at("shared/a.sock"),
    at("shared/a.token"),
    at("shared/a.journal"),
  ])
    expect(paths).toContain(path);
  expect(paths).not.toContain(at("shared"));
});

/** A listening socket. */
function socketAt(unix: string): Disposable {
  const listener = Bun.listen({ unix, socket: { data() {} } });
  return { [Symbol.dispose]: () => listener.stop(true) };
}

test("forged discovery files hide sockets and private directories only", () => {
  using dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  for (const name of ["daemons", "work"]) mkdirSync(at(name));
  writeFileSync(at("work/shell"), "");
  const forged = [
    { socket_path: "/usr/bin/x.sock", run_dir: "/usr" },
    { socket_path: at("work"), run_dir: at("work") },
    { socket_path: at("work/shell"), run_dir: "/usr/trl-1-abcdef" },
  ];
  for (const [i, note] of forged.entries()) writeFileSync(at(`daemons/${i}.json`), JSON.stringify(note));
  const paths = found({}, [dir.path]);
  for (const path of ["/usr", "/usr/bin", "/usr/trl-1-abcdef", at("work"), at("work/shell")])
    expect(paths).not.toContain(path);
});

test("a FIFO among the discovery files does not block", () => {
  using dir = tempDir();
  mkdirSync(join(dir.path, "daemons"));
  Bun.spawnSync(["mkfifo", join(dir.path, "daemons/x.json")]);
  const source = join(import.meta.dir, "../../../../src/core/isolation/escape-paths.ts");
  const script = `const { escapePaths } = await import(${JSON.stringify(source)});
    escapePaths({ env: {}, runtimeDirs: [${JSON.stringify(dir.path)}] }); console.log("done");`;
  // In a process of its own: a blocked open cannot be interrupted from JavaScript.
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { timeout: 20_000 });
  expect(stdout.toString()).toBe("done\n");
});

describe("a runtime directory of another user", () => {
  const { test } = needs("other users");

  test("hides nothing", () => {
    using dir = tempDir();
    const at = (name: string) => join(dir.path, name);
    mkdirSync(at("daemons"));
    using _socket = socketAt(at("a.sock"));
    writeFileSync(at("daemons/1.json"), JSON.stringify({ socket_path: at("a.sock") }));
    expect(found({}, [dir.path])).toContain(at("daemons"));
    chownSync(at("daemons"), strangerUid, strangerUid);
    expect(found({}, [dir.path])).not.toContain(at("daemons"));
    chownSync(dir.path, strangerUid, strangerUid);
    expect(found({}, [dir.path])).toEqual(found({}));
  });

  test("may be a symbolic link to any directory", () => {
    using dir = tempDir();
    const link = join(dir.path, "link");
    symlinkSync("/usr", link);
    expect(found({}, [link])).toEqual(found({}));
    lchownSync(link, strangerUid, strangerUid);
    expect(found({}, [link])).toEqual(found({}));
  });
});

test("inside: existing paths by their real names, without those that are writable", () => {
  using dir = tempDir();
  const real = realpathSync(dir.path);
  const at = (name: string) => join(real, name);
  mkdirSync(at("deep/er"), { recursive: true });
  for (const name of ["one", "two", "deep/three", "deep/er/four"]) writeFileSync(at(name), "");
  symlinkSync("one", at("link"));
  const hidden = (paths: string[], writable: string[] = [], root = "/") =>
    hiddenInside(paths.map(at), { root, writable }).sort();
  expect(hidden(["link", "one", "missing"])).toEqual([at("one")]);
  expect(hidden(["one", "two"], [at("two")])).toEqual([at("one")]);
  expect(hidden(["deep", "deep/three", "deep/er/four"])).toEqual([at("deep")]);
  expect(hidden(["deep", "deep/er/four"], [at("deep/er")])).toEqual([at("deep"), at("deep/er/four")]);
  expect(hidden(["deep/three", "one"], [], at("deep"))).toEqual(["/three"]);
});

// What a sandbox hides of others outside, from what the environment and announcements say.
import { expect, test } from "bun:test";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { hiddenInside } from "../../../../src/core/isolation/sandbox-request.ts";
import { waysOut } from "../../../../src/core/isolation/ways-out.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const found = (env: Record<string, string>, runtimeDirs: string[] = []) => waysOut({ env, runtimeDirs });

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

test("announced daemons: a directory of their own as a whole, else their files, and what they run in", () => {
  using dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  for (const name of ["daemons", "own", "shared"]) mkdirSync(at(name));
  for (const name of ["own/trl.sock", "own/trl.token", "shared/a.sock", "shared/a.token", "shared/work"])
    writeFileSync(at(name), "");
  writeFileSync(
    at("daemons/1.json"),
    JSON.stringify({ socket_path: at("own/trl.sock"), run_dir: "/run/of/1" }),
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
    "/run/of/1",
    at("shared/a.sock"),
    at("shared/a.token"),
    at("shared/a.journal"),
  ])
    expect(paths).toContain(path);
  expect(paths).not.toContain(at("shared"));
});

test("inside: what exists, by its real name, and not what was asked for", () => {
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

import { expect, test } from "bun:test";
import { specFrom, specFromWords } from "../../../src/protocol/runtime-spec.ts";

test.each([
  ["gpu=ssh:user@host", { name: "gpu", spec: { kind: "ssh", host: "user@host" } }],
  ["box=docker:mybox", { name: "box", spec: { kind: "docker", container: "mybox" } }],
  [
    "pod=kubernetes:prod/worker",
    { name: "pod", spec: { kind: "kubernetes", namespace: "prod", pod: "worker" } },
  ],
  ["pod=kubernetes:worker", { name: "pod", spec: { kind: "kubernetes", pod: "worker" } }],
  ["near=socket:/run/x=y.sock", { name: "near", spec: { kind: "socket", path: "/run/x=y.sock" } }],
  ["web=https://host:9100", { name: "web", spec: { kind: "http", url: "https://host:9100" } }],
  ["web=http:http://host", { name: "web", spec: { kind: "http", url: "http://host" } }],
  ["own=command:trl --stdin", { name: "own", spec: { kind: "command", argv: ["trl", "--stdin"] } }],
] as const)("%s", (words, expected) => {
  expect(specFromWords(words) as unknown).toEqual(expected);
});

test("another form is not a description", () => {
  for (const words of ["", "gpu", "gpu=", "gpu=ssh", "gpu=ssh:", "=ssh:host"])
    expect(specFromWords(words)).toBeUndefined();
});

test("an error names its field", () => {
  expect(() => specFromWords("gpu=moon:x")).toThrow("kind: expected one of");
  expect(() => specFromWords("gpu=ssh:-oProxyCommand=sh")).toThrow("host: expected a name");
  expect(() => specFrom({ kind: "docker", container: "a", image: "b" })).toThrow("container, image");
  expect(() => specFrom({ kind: "socket", path: "/x", pod: "y" })).toThrow("pod: a runtime of kind socket");
});

import { describe, expect, test } from "bun:test";
import { readHttpOptions } from "../../../src/daemon/http-options.ts";
import { OptionError } from "../../../src/daemon/option-error.ts";

type Given = Partial<Record<"http" | "tls-cert" | "tls-key" | "allow-origin", string>>;
const read = (given: Given, isInsecureAllowed = false) =>
  readHttpOptions((name) => (given as Record<string, string>)[name], isInsecureAllowed);

function refusal(given: Given, isInsecureAllowed = false): string {
  try {
    read(given, isInsecureAllowed);
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  return "accepted";
}

describe("--http", () => {
  test("is off unless it is asked for", () => expect(read({})).toBeUndefined());

  test.each([
    ["127.0.0.1:9100", "127.0.0.1", 9100],
    ["localhost:0", "localhost", 0],
    ["[::1]:65535", "::1", 65535],
    [":9100", "127.0.0.1", 9100],
  ])("%s", (address, hostname, port) => {
    expect(read({ http: address })).toEqual({ hostname, port, allowedOrigins: [], tls: undefined });
  });

  test.each([
    "9100",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:x",
    "127.0.0.1:65536",
    "::1:9100",
    "[::1]",
    "http://localhost:1",
    "a:b:1",
    "127.0.0.1:-1",
  ])("%s is no address", (address) => expect(refusal({ http: address }, true)).toContain("HOST:PORT"));

  test.each([
    "0.0.0.0:9100",
    "[::]:9100",
    "192.168.1.2:9100",
    "example.org:9100",
    "127.0.0.1.example.org:80",
    "[::ffff:127.0.0.1]:1",
  ])("%s needs TLS, or a word that it does not", (address) => {
    expect(refusal({ http: address })).toContain("--insecure-http");
    expect(refusal({ http: address }, true)).toBe("accepted");
    expect(refusal({ http: address, "tls-cert": "c", "tls-key": "k" })).toBe("accepted");
    expect(refusal({ http: address, "tls-cert": "c" })).toContain("belong together");
    expect(refusal({ http: address, "tls-key": "k" }, true)).toContain("belong together");
  });
});

describe("--allow-origin", () => {
  const origins = (list: string) => read({ http: ":1", "allow-origin": list })?.allowedOrigins;

  test("is a list", () => {
    expect(origins("https://a.example, http://localhost:3000,")).toEqual([
      "https://a.example",
      "http://localhost:3000",
    ]);
  });

  test.each([
    "*",
    "null",
    "a.example",
    "https://a.example/",
    "https://a.example/x",
    "https://A.example",
    "https://a.example:443",
    "file:///",
  ])("%s is no origin", (origin) =>
    expect(refusal({ http: ":1", "allow-origin": `https://b.example,${origin}` })).toContain(
      "--allow-origin",
    ),
  );
});

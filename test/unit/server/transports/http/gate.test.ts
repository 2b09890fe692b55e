import { describe, expect, test } from "bun:test";
import { Gate, isLoopback } from "../../../../../src/server/transports/http/gate.ts";

const gate = (hostname: string, allowedOrigins: string[] = []) =>
  new Gate({ hostname, port: 9100, allowedOrigins }, (given) => given === "right");

const request = (headers: Record<string, string>) => new Request("http://localhost/", { headers });
const takes = (hostname: string, host: string, origins: string[] = []) =>
  gate(hostname, origins).refuseForeignOrigin(request({ host })) === undefined;

test("loopback addresses are recognised", () => {
  for (const name of ["localhost", "127.0.0.1", "127.8.9.10", "::1"])
    expect([name, isLoopback(name)]).toEqual([name, true]);
  for (const name of [
    "0.0.0.0",
    "::",
    "",
    "127.evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "192.168.0.1",
    "1127.0.0.1",
  ])
    expect([name, isLoopback(name)]).toEqual([name, false]);
});

describe("Host", () => {
  test("of a daemon on loopback", () => {
    for (const host of ["localhost", "127.0.0.1:1", "[::1]:9100", "127.0.0.5"])
      expect([host, takes("127.0.0.5", host)]).toEqual([host, true]);
    for (const host of ["127.0.0.6", "evil.example", "", "[::1]x", "localhost:123456"])
      expect([host, takes("127.0.0.5", host)]).toEqual([host, false]);
  });

  test("of a daemon on one address", () => {
    expect(takes("192.0.2.7", "192.0.2.7:9100")).toBeTrue();
    expect(takes("Box.Example", "box.example")).toBeTrue();
    expect(takes("2001:db8::1", "[2001:DB8::1]:9100")).toBeTrue();
    for (const host of ["localhost", "192.0.2.8", "evil.example"])
      expect(takes("192.0.2.7", host)).toBeFalse();
  });

  test("of a daemon on all addresses: an address cannot be made to point elsewhere, a name can", () => {
    for (const everywhere of ["0.0.0.0", "::"]) {
      for (const host of ["192.0.2.8", "[2001:db8::1]:80", "localhost"])
        expect(takes(everywhere, host)).toBeTrue();
      for (const host of ["evil.example", "1.2.3.4.evil.example", "1.2.3"])
        expect(takes(everywhere, host)).toBeFalse();
    }
  });

  test("of a proxy's origin", () => {
    const origins = ["https://app.example.org", "http://[::5]:3000"];
    for (const host of ["app.example.org", "[::5]"]) expect(takes("127.0.0.1", host, origins)).toBeTrue();
    expect(takes("127.0.0.1", "example.org", origins)).toBeFalse();
  });
});

test("the token is read from the Authorization header only", () => {
  const isRefused = (authorization: string) =>
    gate("localhost").refuseWithoutToken(request({ authorization })) !== undefined;
  for (const header of ["Bearer right", "bearer right", "Bearer   right"])
    expect(isRefused(header)).toBeFalse();
  for (const header of [
    "",
    "right",
    "Bearer",
    "Bearer wrong",
    "Basic right",
    "Bearer right x",
    "XBearer right",
  ])
    expect([header, isRefused(header)]).toEqual([header, true]);
});

import { expect, test } from "bun:test";
import { isIP } from "node:net";
import { isAddress } from "../../../src/server/transports/http/gate.ts";

// As in a Host header: in lower case, and IPv6 without its brackets.
const hosts = [
  ...["127.0.0.1", "0.0.0.0", "255.255.255.255", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "256.1.1.1", "01.2.3.4"],
  ...["1.2.3.4 ", "1..2.3", "0x7f.0.0.1", "2130706433", "", "localhost", "example.org", "1.2.3.4.example"],
  ...[
    "::",
    "::1",
    "fe80::1",
    "2001:db8::ff00:42:8329",
    "::ffff:10.0.0.1",
    ":::",
    "1:2:3:4:5:6:7:8:9",
    "g::1",
  ],
  ...["::a:", "5::59:", "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7::", ":1", "::1/64", "::1]"],
  ...["1:2", "12345::", "::1.2.3", "a:b:c:d:e:f:0:1"],
];

test.each(hosts)("%p is an address if node:net says so", (host) => {
  expect(isAddress(host)).toBe(isIP(host) !== 0);
});

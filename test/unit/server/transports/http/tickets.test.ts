import { expect, test } from "bun:test";
import { Tickets, ticketSeconds } from "../../../../../src/server/transports/http/tickets.ts";

test("a ticket is valid once", () => {
  const tickets = new Tickets();
  const [one, other] = [tickets.issue(), tickets.issue()];
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(one).not.toBe(other);
  expect(tickets.redeem(one)).toBeTrue();
  expect(tickets.redeem(one)).toBeFalse();
  expect(tickets.redeem(other)).toBeTrue();
});

test("other strings are not tickets", () => {
  const tickets = new Tickets();
  const ticket = tickets.issue();
  for (const word of ["", "x", ticket.slice(1), `${ticket} `, ticket.toUpperCase(), "__proto__"])
    if (word !== ticket) expect(tickets.redeem(word)).toBeFalse();
  expect(tickets.redeem(ticket)).toBeTrue();
});

test("a ticket is good for a short time, also where newer ones are issued", () => {
  let now = 0;
  const tickets = new Tickets(() => now);
  const [first, second] = [tickets.issue(), tickets.issue()];
  now = ticketSeconds * 1000 - 1;
  expect(tickets.redeem(first)).toBeTrue();
  now = ticketSeconds * 1000;
  const third = tickets.issue();
  expect(tickets.redeem(second)).toBeFalse();
  expect(tickets.redeem(third)).toBeTrue();
});

test("beyond the maximum, a new ticket displaces the oldest", () => {
  const tickets = new Tickets();
  const issued = Array.from({ length: 1500 }, () => tickets.issue());
  expect(issued.filter((ticket) => tickets.redeem(ticket))).toEqual(issued.slice(500));
});

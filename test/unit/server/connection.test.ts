// The outgoing side of a connection: order, partial writes, and no callback within a write.
import { describe, expect, test } from "bun:test";
import { Connection } from "../../../src/server/connection.ts";
import { newCounters } from "../../../src/server/counters.ts";
import type { Dispatcher, EncodedReply } from "../../../src/server/dispatch.ts";
import type { TransportStream } from "../../../src/server/transports/transport-stream.ts";

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** Takes as many bytes as it is given room for. */
function connect(more: Partial<TransportStream> = {}) {
  const transport = { room: Number.POSITIVE_INFINITY, written: "" };
  const stream: TransportStream = {
    write(bytes) {
      const taken = Math.min(bytes.length, transport.room);
      transport.room -= taken;
      transport.written += Buffer.from(bytes.subarray(0, taken)).toString();
      return taken;
    },
    ...{ senderWaits: true, pauseReading() {}, resumeReading() {}, close() {} },
    ...more,
  };
  const reply: EncodedReply = { bytes: bytesOf("[reply]\n"), errorCode: "SESSION_BUSY" };
  const connectionLimits = { sessions: 1, commands: 1, requests: 8, queuedBytes: 1000 };
  const dispatcher = { connectionLimits, answer: () => reply } as unknown as Dispatcher;
  return { transport, reply, connection: new Connection(stream, dispatcher, newCounters(), 1000) };
}

describe("the outgoing queue", () => {
  test("keeps the rest of a frame whose memory is used again, and replies overtake what has not begun", () => {
    const { transport, connection } = connect();
    const frame = bytesOf("[first]");
    transport.room = 3;
    connection.send(frame);
    frame.fill(0);
    connection.send(bytesOf("[second]"));
    expect(connection.hasRoom).toBe(false);
    connection.receive(bytesOf("{}\n"));
    transport.room = Number.POSITIVE_INFINITY;
    connection.writable();
    expect(transport.written).toBe("[first][reply]\n[second]");
    expect(connection.hasRoom).toBe(true);
    expect(connection.isSending).toBe(false);
  });

  test("calls its subscribers when the transport has made room, and never within a send", () => {
    const { transport, connection } = connect();
    let isInSend = false;
    const calls: boolean[] = [];
    const send = (text: string) => {
      isInSend = true;
      connection.send(bytesOf(text));
      isInSend = false;
    };
    connection.attach({ roomMade: () => void calls.push(isInSend), closed() {} });
    send("taken");
    transport.room = 0;
    send("not taken");
    send("nor this");
    expect(calls).toEqual([]);
    transport.room = Number.POSITIVE_INFINITY;
    connection.writable();
    expect(calls).toEqual([false]);
    expect(transport.written).toBe("takennot takennor this");
  });
});

test("a transport that takes replies by themselves gets the outcome with the bytes", () => {
  const replies: EncodedReply[] = [];
  const { transport, reply, connection } = connect({ writeReply: (it) => void replies.push(it) });
  connection.receive(bytesOf("{}\n"));
  connection.send(bytesOf("output"));
  expect(replies).toEqual([reply]);
  expect(transport.written).toBe("output");
  expect(connection.counters.bytesOut).toBe(reply.bytes.length + "output".length);
});

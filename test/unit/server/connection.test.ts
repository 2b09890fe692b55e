// The outgoing queue of a connection: order, partial writes, and no callback inside a write.
import { describe, expect, test } from "bun:test";
import { Connection } from "../../../src/server/connection.ts";
import { newCounters } from "../../../src/server/counters.ts";
import type { Dispatcher, EncodedReply } from "../../../src/server/dispatch.ts";
import { FrameRests } from "../../../src/server/outgoing-queue.ts";
import type { TransportStream } from "../../../src/server/transports/transport-stream.ts";

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** Accepts as many bytes as `transport.space` allows. */
function connect(more: Partial<TransportStream> = {}) {
  const transport = { space: Number.POSITIVE_INFINITY, written: "" };
  const stream: TransportStream = {
    write(bytes) {
      const taken = Math.min(bytes.length, transport.space);
      transport.space -= taken;
      transport.written += Buffer.from(bytes.subarray(0, taken)).toString();
      return taken;
    },
    ...{ senderWaits: true, pauseReading() {}, resumeReading() {}, close() {} },
    ...more,
  };
  const reply: EncodedReply = { bytes: bytesOf("[reply]\n"), errorCode: "SESSION_BUSY" };
  const connectionLimits = { sessions: 1, commands: 1, requests: 8, queuedBytes: 1000 };
  const dispatcher = { answer: () => reply } as unknown as Dispatcher;
  const counters = newCounters();
  const services = { dispatcher, counters, connectionLimits, maxLineBytes: 1000, rests: new FrameRests() };
  const connection = new Connection(stream, services, "c1");
  return { transport, reply, counters, connection, queue: connection.queue };
}

describe("the outgoing queue", () => {
  test("copies the rest of a frame before its memory is reused, and replies overtake unsent frames", () => {
    const { transport, connection, queue } = connect();
    const frame = bytesOf("[first]");
    transport.space = 3;
    queue.send(frame);
    frame.fill(0);
    queue.send(bytesOf("[second]"));
    expect(queue.isWritable).toBe(false);
    connection.receive(bytesOf("{}\n"));
    transport.space = Number.POSITIVE_INFINITY;
    connection.writable();
    expect(transport.written).toBe("[first][reply]\n[second]");
    expect(queue.isWritable).toBe(true);
    expect(connection.isSending).toBe(false);
  });

  test("notifies its subscribers when the transport is writable again, and never inside a send", () => {
    const { transport, connection, queue } = connect();
    let isInSend = false;
    const calls: boolean[] = [];
    const send = (text: string) => {
      isInSend = true;
      queue.send(bytesOf(text));
      isInSend = false;
    };
    queue.attach({ onWritable: () => void calls.push(isInSend), onClosed() {} });
    send("taken");
    transport.space = 0;
    send("not taken");
    send("nor this");
    expect(calls).toEqual([]);
    transport.space = Number.POSITIVE_INFINITY;
    connection.writable();
    expect(calls).toEqual([false]);
    expect(transport.written).toBe("takennot takennor this");
  });
});

test("a transport with writeReply gets the error code with the bytes", () => {
  const replies: EncodedReply[] = [];
  const { transport, reply, counters, connection, queue } = connect({
    writeReply: (it) => void replies.push(it),
  });
  connection.receive(bytesOf("{}\n"));
  queue.send(bytesOf("output"));
  expect(replies).toEqual([reply]);
  expect(transport.written).toBe("output");
  expect(counters.bytesOut).toBe(reply.bytes.length + "output".length);
});

import { ByteSocket } from "./byte-socket.ts";
import { type Carrier, type CarrierEvents, LineSplitter } from "./carrier.ts";

export function openUnix(path: string, events: CarrierEvents): Promise<Carrier> {
  const lines = new LineSplitter();
  return ByteSocket.open(
    { unix: path },
    {
      data(chunk) {
        for (const line of lines.push(chunk)) events.line(line);
      },
      closed: () => events.closed(),
    },
  );
}

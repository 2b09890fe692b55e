// One client's connections to all runtimes, opened on first use.
import { RemoteConnection } from "./connection.ts";
import type { Runtime } from "./runtime.ts";
import type { FrameWriter } from "./writer.ts";

export class ClientLinks {
  readonly #connections = new Map<Runtime, RemoteConnection[]>();
  #isReleased = false;

  constructor(readonly writer: FrameWriter) {}

  connection(runtime: Runtime): RemoteConnection {
    return this.#all(runtime)[0] ?? this.#add(runtime);
  }

  /** Connections with a subscription to the id: several if the client has attached several times. */
  subscribedTo(runtime: Runtime, id: string): RemoteConnection[] {
    return this.#all(runtime).filter((connection) => connection.subscriptionOf(id));
  }

  /** A connection without a subscription to the id: on one link, the frames of two attachments look the same. */
  connectionFor(runtime: Runtime, id: string): RemoteConnection {
    return this.#all(runtime).find((connection) => !connection.subscriptionOf(id)) ?? this.#add(runtime);
  }

  /** The client has disconnected. */
  release(): void {
    this.#isReleased = true;
    for (const connections of this.#connections.values())
      for (const connection of connections) connection.release();
    this.#connections.clear();
  }

  #all(runtime: Runtime): RemoteConnection[] {
    return this.#connections.get(runtime) ?? [];
  }

  #add(runtime: Runtime): RemoteConnection {
    const connection = new RemoteConnection(runtime);
    if (this.#isReleased) connection.release();
    else this.#connections.set(runtime, [...this.#all(runtime), connection]);
    return connection;
  }
}

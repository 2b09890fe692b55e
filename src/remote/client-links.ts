// One client's connections to other runtimes, opened when they are first needed.
import { RemoteConnection } from "./connection.ts";
import type { Runtime } from "./runtime.ts";
import type { FrameWriter } from "./writer.ts";

export class ClientLinks {
  readonly #connections = new Map<Runtime, RemoteConnection[]>();
  #isReleased = false;

  constructor(readonly outlet: FrameWriter) {}

  connection(runtime: Runtime): RemoteConnection {
    return this.#all(runtime)[0] ?? this.#another(runtime);
  }

  /** Those on which the client follows it: more than one where it has attached more than once. */
  following(runtime: Runtime, id: string): RemoteConnection[] {
    return this.#all(runtime).filter((connection) => connection.follows(id));
  }

  /** One on which it is not followed yet: frames of two attachments on one link could not be told apart. */
  toFollow(runtime: Runtime, id: string): RemoteConnection {
    return this.#all(runtime).find((connection) => !connection.follows(id)) ?? this.#another(runtime);
  }

  /** The client has gone. */
  release(): void {
    this.#isReleased = true;
    for (const connections of this.#connections.values())
      for (const connection of connections) connection.release();
    this.#connections.clear();
  }

  #all(runtime: Runtime): RemoteConnection[] {
    return this.#connections.get(runtime) ?? [];
  }

  #another(runtime: Runtime): RemoteConnection {
    const connection = new RemoteConnection(runtime);
    if (this.#isReleased) connection.release();
    else this.#connections.set(runtime, [...this.#all(runtime), connection]);
    return connection;
  }
}

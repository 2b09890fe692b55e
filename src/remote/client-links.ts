// One client's connections to other runtimes, opened when they are first needed.
import { FarConnection } from "./connection.ts";
import type { Runtime } from "./runtime.ts";
import type { Outlet } from "./writer.ts";

export class FarClient {
  readonly #connections = new Map<Runtime, FarConnection[]>();
  #isReleased = false;

  constructor(readonly outlet: Outlet) {}

  connection(runtime: Runtime): FarConnection {
    return this.#all(runtime)[0] ?? this.#another(runtime);
  }

  /** Those on which the client follows it: more than one where it has attached more than once. */
  following(runtime: Runtime, id: string): FarConnection[] {
    return this.#all(runtime).filter((connection) => connection.follows(id));
  }

  /** One on which it is not followed yet: frames of two attachments on one link could not be told apart. */
  toFollow(runtime: Runtime, id: string): FarConnection {
    return this.#all(runtime).find((connection) => !connection.follows(id)) ?? this.#another(runtime);
  }

  /** The client has gone. */
  release(): void {
    this.#isReleased = true;
    for (const connections of this.#connections.values())
      for (const connection of connections) connection.release();
    this.#connections.clear();
  }

  #all(runtime: Runtime): FarConnection[] {
    return this.#connections.get(runtime) ?? [];
  }

  #another(runtime: Runtime): FarConnection {
    const connection = new FarConnection(runtime);
    if (this.#isReleased) connection.release();
    else this.#connections.set(runtime, [...this.#all(runtime), connection]);
    return connection;
  }
}

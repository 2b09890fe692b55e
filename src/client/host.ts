// What the handles (sessions, streams, terminals) need of the client: requests, and subscriptions across connections.
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import type { Subscription } from "./persistent-link.ts";

export interface HostCallOptions {
  /** Aborts the call at any time. */
  signal?: AbortSignal | undefined;
  /** Aborts the call only while the request has not been sent. */
  unsentSignal?: AbortSignal | undefined;
}

export interface Host {
  call<M extends MethodName>(
    method: M,
    params: Partial<Params<M>>,
    options?: HostCallOptions,
  ): Promise<Result<M>>;
  subscribe(subscription: Subscription): Promise<void>;
  unsubscribe(subscription: Subscription): void;
}

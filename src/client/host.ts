// What handles stand on: requests, and a way to go on across connections.
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import type { Follower } from "./persistent-link.ts";

export interface HostCallOptions {
  /** Stops the waiting, whatever it is for. */
  signal?: AbortSignal | undefined;
  /** Stops it only as long as the request has not left. */
  unsentSignal?: AbortSignal | undefined;
}

export interface Host {
  call<M extends MethodName>(
    method: M,
    params: Partial<Params<M>>,
    options?: HostCallOptions,
  ): Promise<Result<M>>;
  follow(follower: Follower): Promise<void>;
  unfollow(follower: Follower): void;
}

// What handles stand on: requests, and a way to go on across connections.
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import type { Follower } from "./reconnect.ts";

export interface Host {
  call<M extends MethodName>(
    method: M,
    params: Partial<Params<M>>,
    options?: { signal?: AbortSignal },
  ): Promise<Result<M>>;
  follow(follower: Follower): Promise<void>;
  unfollow(follower: Follower): void;
}

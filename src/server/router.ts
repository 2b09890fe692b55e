// Routes a request to the handler of this daemon, or to the daemon of another runtime. A request for this daemon is
// answered synchronously where its handler is.
import type { SessionRegistry } from "../core/session/registry.ts";
import { TrlError } from "../protocol/errors.ts";
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import type { Validator } from "../protocol/validate.ts";
import { forward, subscribe } from "../remote/proxy.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";
import type { Presentation } from "../remote/subscriptions/terminal.ts";
import { newId } from "../util/ids.ts";
import type { Handlers } from "./handlers/handlers.ts";
import { type Listing, listAllRuntimes } from "./list-all-runtimes.ts";
import { pickRuntime } from "./pick-runtime.ts";
import type { RequestContext } from "./request-context.ts";
import { routingOf } from "./routing-params.ts";

type Fields = Record<string, unknown>;
type Creation = "session.create" | "pty.create";

export interface RouterServices {
  runtimes: Runtimes;
  registry: SessionRegistry;
  handlers: Handlers;
  /** Labels of this daemon. */
  labels: readonly string[];
  validator: Validator;
}

export class Router {
  constructor(readonly services: RouterServices) {}

  call(method: MethodName, given: unknown, context: RequestContext): unknown {
    const routing = routingOf[method];
    const params = given ?? {};
    if (routing === "local" || !isObject(params)) return this.#handle(method, params, context);
    if (routing === "create") return this.#create(method as Creation, params, context);
    if (routing === "all") return this.#list(method as Listing, params, context);
    if (this.services.runtimes.isEmpty) return this.#handle(method, params, context);
    const runtime = this.#find(params);
    if (runtime === undefined) return this.#handle(method, params, context);
    if (!(runtime instanceof Promise)) return this.#forward(runtime, method, params, context);
    return this.#callFound(runtime, method, params, context);
  }

  /** The runtime of a terminal; undefined if the terminal is local or unknown. */
  runtimeOf(sessionId: string): Runtime | undefined | Promise<Runtime | undefined> {
    return this.services.runtimes.isEmpty ? undefined : this.#find({ session_id: sessionId });
  }

  /** A subscription in another dialect. */
  async subscribe(
    runtime: Runtime,
    params: Params<"pty.subscribe">,
    context: RequestContext,
    presentation: Presentation,
  ): Promise<void> {
    await subscribe(params, this.#forwarding(runtime, context), presentation);
  }

  /** Forwarded requests are validated by the daemon that handles them. */
  #handle(method: MethodName, params: unknown, context: RequestContext): unknown {
    const handler = this.services.handlers[method] as (params: unknown, context: RequestContext) => unknown;
    return handler(this.#validate(method, params), context);
  }

  #validate<M extends MethodName>(method: M, params: unknown): Params<M> {
    return this.services.validator.params(method, params);
  }

  async #callFound(
    searched: Promise<Runtime | undefined>,
    method: MethodName,
    params: Fields,
    context: RequestContext,
  ): Promise<unknown> {
    const runtime = await searched;
    if (runtime) return await this.#forward(runtime, method, params, context);
    try {
      return await this.#handle(method, params, context);
    } catch (error) {
      throw this.#withUnavailable(error);
    }
  }

  async #forward(
    runtime: Runtime,
    method: MethodName,
    params: Fields,
    context: RequestContext,
  ): Promise<unknown> {
    const { routes } = this.services.runtimes;
    const id = params["session_id"] as string;
    try {
      const data = await forward(method, params, this.#forwarding(runtime, context));
      if (method === "session.destroy" || method === "pty.close") routes.ended(id);
      return method === "session.info" ? { ...(data as object), runtime: runtime.name } : data;
    } catch (error) {
      if (error instanceof TrlError && error.code === "SESSION_NOT_FOUND") routes.ended(id);
      throw error;
    }
  }

  #forwarding(runtime: Runtime, context: RequestContext) {
    const { registry, runtimes } = this.services;
    const isTaken = (id: string) => registry.commands.has(id) || runtimes.routes.ofStream(id) !== undefined;
    const newCommandId = (chosen: unknown) => {
      const id = (chosen as string | null | undefined) ?? newId("x", isTaken);
      runtimes.routes.addStream(id, runtime);
      return id;
    };
    const afterReply = (action: () => void) => context.afterReply(action);
    return { runtime, links: context.connection.links, afterReply, newCommandId };
  }

  /** What was not found may be in a runtime that could not be asked; the error names these runtimes. */
  #withUnavailable(error: unknown): unknown {
    const unavailable = this.services.runtimes.all.flatMap((it) => (it.failure ? [it.unavailability()] : []));
    if (!(error instanceof TrlError && error.code.endsWith("_NOT_FOUND")) || unavailable.length === 0)
      return error;
    const names = unavailable.map(({ runtime }) => runtime).join(", ");
    return new TrlError(error.code, `${error.message}; ${names} could not be asked`, { unavailable });
  }

  /** Undefined if the id is local. An id that is in no routing table is searched for in all runtimes. */
  #find({ session_id, stream_id }: Fields): Runtime | undefined | Promise<Runtime | undefined> {
    const { registry, runtimes } = this.services;
    if (typeof session_id === "string") {
      if (registry.has(session_id)) return undefined;
      return (
        runtimes.routes.ofSession(session_id) ?? this.#search(() => runtimes.routes.ofSession(session_id))
      );
    }
    if (typeof stream_id !== "string" || registry.commands.has(stream_id)) return undefined;
    return (
      runtimes.routes.ofStream(stream_id) ??
      this.#search(() => runtimes.routes.ofStream(stream_id), "exec.list")
    );
  }

  async #search(lookUp: () => Runtime | undefined, ...lists: Listing[]): Promise<Runtime | undefined> {
    const { runtimes } = this.services;
    const asked = lists.length > 0 ? lists : (["session.list", "pty.list"] as const);
    await Promise.all(asked.map((list) => runtimes.list(list)));
    return lookUp();
  }

  #list(method: Listing, params: Fields, context: RequestContext): unknown {
    const { runtimes } = this.services;
    const only = params["runtime"] ?? undefined;
    const listLocal = () => this.#handle(method, params, context);
    if (only === hostRuntime || (only !== undefined && typeof only !== "string")) return listLocal();
    if (runtimes.isEmpty && only === undefined) return listLocal();
    return listAllRuntimes(method, this.#validate(method, params), listLocal, this.services);
  }

  #create(method: Creation, params: Fields, context: RequestContext): unknown {
    const { runtime, needs, ...rest } = params;
    if (Array.isArray(needs) && needs.length > 0) {
      this.#validate(method, params);
      return this.#createByLabels(method, params as Params<Creation>, context);
    }
    const { runtimes } = this.services;
    if (typeof runtime === "string" && runtime !== hostRuntime)
      return this.#createRemote(runtimes.get(runtime), method, rest, context);
    const id = method === "pty.create" ? params["session_id"] : undefined;
    const isKnown = typeof id === "string" && runtimes.routes.ofSession(id) !== undefined;
    return isKnown ? this.#createIfFree(id, params, context) : this.#handle(method, params, context);
  }

  async #createByLabels(
    method: Creation,
    params: Params<Creation>,
    context: RequestContext,
  ): Promise<unknown> {
    const { runtime, needs = [], ...rest } = params;
    const found = await pickRuntime(this.services, needs, runtime);
    if (found === hostRuntime) return await this.#handle(method, rest, context);
    return await this.#createRemote(found, method, rest, context);
  }

  /** The remote daemon chooses the id; if the id is taken here, the session is destroyed and another one created. */
  async #createRemote(
    runtime: Runtime,
    method: Creation,
    params: Fields,
    context: RequestContext,
  ): Promise<unknown> {
    const { registry, runtimes } = this.services;
    const connection = context.connection.links.connection(runtime);
    const isTaken = (id: string) => {
      const owner = runtimes.routes.ofSession(id);
      return registry.has(id) || (owner !== undefined && owner !== runtime && runtimes.routes.isLive(id));
    };
    const wanted = params["session_id"];
    const isNew = typeof wanted === "string" && runtimes.routes.ofSession(wanted) === undefined;
    if (typeof wanted === "string" && isTaken(wanted)) throw inUse(wanted);
    if (isNew) runtimes.routes.addSession(wanted, runtime); // the next request may already use the id
    for (;;) {
      const created = (await connection.request(method, params).catch((error: unknown) => {
        if (isNew) runtimes.routes.removeSession(wanted);
        throw error;
      })) as Result<Creation>;
      const { session_id } = created;
      if (!isTaken(session_id)) {
        runtimes.routes.addSession(session_id, runtime);
        return { ...created, runtime: runtime.name };
      }
      await connection.request("session.destroy", { session_id, force: true });
    }
  }

  /** An id of a terminal in another runtime is free again after that terminal has ended. */
  async #createIfFree(id: string, params: Fields, context: RequestContext): Promise<unknown> {
    const { runtimes } = this.services;
    if (runtimes.routes.isLive(id)) await runtimes.list("session.list");
    if (runtimes.routes.isLive(id)) throw inUse(id);
    runtimes.routes.removeSession(id);
    return await this.#handle("pty.create", params, context);
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inUse = (id: string) => new TrlError("INVALID_PARAMS", `session_id: ${id} is in use`);

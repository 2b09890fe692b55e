// Where a request is answered: here, or by the daemon of another runtime. What is for this daemon takes no detour and
// waits for nobody.
import type { SessionRegistry } from "../core/session/registry.ts";
import { TrlError } from "../protocol/errors.ts";
import type { MethodName, Params, Result } from "../protocol/methods.ts";
import { hostRuntime } from "../protocol/runtime.ts";
import { validateParams } from "../protocol/validate.ts";
import { forward, subscribe } from "../remote/proxy.ts";
import type { Runtime } from "../remote/runtime.ts";
import type { Runtimes } from "../remote/runtimes.ts";
import type { Presentation } from "../remote/subscriptions/terminal.ts";
import { newId } from "../util/ids.ts";
import type { Handlers } from "./handlers/handlers.ts";
import { type Listing, listEverywhere } from "./list-all-runtimes.ts";
import type { Client } from "./outgoing-queue.ts";
import { pickRuntime } from "./pick-runtime.ts";
import { places } from "./routing-params.ts";

type Fields = Record<string, unknown>;
type Creation = "session.create" | "pty.create";

export interface RouterContext {
  runtimes: Runtimes;
  registry: SessionRegistry;
  handlers: Handlers;
  /** Labels of this daemon itself. */
  labels: readonly string[];
}

export class Router {
  constructor(readonly context: RouterContext) {
    const { registry, runtimes } = context;
    registry.isTakenElsewhere = (id) => runtimes.routes.isLive(id);
  }

  call(method: MethodName, given: unknown, client: Client): unknown {
    const place = places[method];
    const params = given ?? {};
    if (place === "here" || !isObject(params)) return this.#here(method, params, client);
    if (place === "create") return this.#create(method as Creation, params, client);
    if (place === "all") return this.#list(method as Listing, params, client);
    if (this.context.runtimes.isEmpty) return this.#here(method, params, client);
    const runtime = this.#find(params);
    if (runtime === undefined) return this.#here(method, params, client);
    if (!(runtime instanceof Promise)) return this.#there(runtime, method, params, client);
    return runtime.then(async (found) => {
      if (found) return await this.#there(found, method, params, client);
      try {
        return await this.#here(method, params, client);
      } catch (error) {
        throw this.#withUnasked(error);
      }
    });
  }

  /** Where a terminal lives; undefined where it is here, or nowhere. */
  runtimeOf(sessionId: string): Runtime | undefined | Promise<Runtime | undefined> {
    return this.context.runtimes.isEmpty ? undefined : this.#find({ session_id: sessionId });
  }

  /** A subscription in another dialect. */
  async subscribe(
    runtime: Runtime,
    params: Params<"pty.subscribe">,
    client: Client,
    presentation: Presentation,
  ): Promise<void> {
    await subscribe(params, this.#asking(runtime, client), presentation);
  }

  #here(method: MethodName, params: unknown, client: Client): unknown {
    const handler = this.context.handlers[method] as (params: unknown, client: Client) => unknown;
    return handler(validateParams<MethodName>(method, params), client);
  }

  async #there(runtime: Runtime, method: MethodName, params: Fields, client: Client): Promise<unknown> {
    const { routes } = this.context.runtimes;
    const id = params["session_id"] as string;
    try {
      const data = await forward(method, params, this.#asking(runtime, client));
      if (method === "session.destroy" || method === "pty.close") routes.ended(id);
      return method === "session.info" ? { ...(data as object), runtime: runtime.name } : data;
    } catch (error) {
      if (error instanceof TrlError && error.code === "SESSION_NOT_FOUND") routes.ended(id);
      throw error;
    }
  }

  #asking(runtime: Runtime, { far, afterReply }: Client) {
    const { registry, runtimes } = this.context;
    const isTaken = (id: string) => registry.commands.has(id) || runtimes.routes.ofStream(id) !== undefined;
    const newCommandId = (chosen: unknown) => {
      const id = (chosen as string | null | undefined) ?? newId("x", isTaken);
      runtimes.routes.addStream(id, runtime);
      return id;
    };
    return { runtime, links: far, afterReply, newCommandId };
  }

  /** What was found nowhere may live where nobody could be asked. */
  #withUnasked(error: unknown): unknown {
    const unavailable = this.context.runtimes.all.flatMap((it) => (it.failure ? [it.unavailability()] : []));
    if (!(error instanceof TrlError && error.code.endsWith("_NOT_FOUND")) || unavailable.length === 0)
      return error;
    const names = unavailable.map(({ runtime }) => runtime).join(", ");
    return new TrlError(error.code, `${error.message}; ${names} could not be asked`, { unavailable });
  }

  /** Ours where it is here. What is known nowhere is looked for. */
  #find({ session_id, stream_id }: Fields): Runtime | undefined | Promise<Runtime | undefined> {
    const { registry, runtimes } = this.context;
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

  async #search(known: () => Runtime | undefined, ...lists: Listing[]): Promise<Runtime | undefined> {
    const { runtimes } = this.context;
    const asked = lists.length > 0 ? lists : (["session.list", "pty.list"] as const);
    await Promise.all(asked.map((list) => runtimes.list(list)));
    return known();
  }

  #list(method: Listing, params: Fields, client: Client): unknown {
    const { runtimes } = this.context;
    const only = params["runtime"] ?? undefined;
    const here = () => this.#here(method, params, client);
    if (only === hostRuntime || (only !== undefined && typeof only !== "string")) return here();
    return runtimes.isEmpty && only === undefined
      ? here()
      : listEverywhere(method, validateParams(method, params), here, this.context);
  }

  #create(method: Creation, params: Fields, client: Client): unknown {
    const { runtime, needs, ...rest } = params;
    const isElsewhere = typeof runtime === "string" && runtime !== hostRuntime;
    const isChosen = Array.isArray(needs) && needs.length > 0;
    if (isChosen) {
      validateParams(method, params);
      return this.#createWhereFit(method, params as Params<Creation>, client);
    }
    if (isElsewhere) return this.#createThere(this.context.runtimes.get(runtime), method, rest, client);
    const id = method === "pty.create" ? params["session_id"] : undefined;
    const isKnown = typeof id === "string" && this.context.runtimes.routes.ofSession(id) !== undefined;
    return isKnown ? this.#createIfFree(id, params, client) : this.#here(method, params, client);
  }

  async #createWhereFit(method: Creation, params: Params<Creation>, client: Client): Promise<unknown> {
    const { runtime, needs = [], ...rest } = params;
    const found = await pickRuntime(this.context, needs, runtime);
    if (found === hostRuntime) return await this.#here(method, rest, client);
    return await this.#createThere(found, method, rest, client);
  }

  /** Ids are those of the daemon there, and must be nobody else's here. */
  async #createThere(runtime: Runtime, method: Creation, params: Fields, client: Client): Promise<unknown> {
    const { registry, runtimes } = this.context;
    const connection = client.far.connection(runtime);
    const isTaken = (id: string) => {
      const holder = runtimes.routes.ofSession(id);
      return registry.has(id) || (holder !== undefined && holder !== runtime && runtimes.routes.isLive(id));
    };
    const wanted = params["session_id"];
    const isNew = typeof wanted === "string" && runtimes.routes.ofSession(wanted) === undefined;
    if (typeof wanted === "string" && isTaken(wanted)) throw inUse(wanted);
    if (isNew) runtimes.routes.addSession(wanted, runtime); // what comes right behind it finds its way
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

  /** A name that was used elsewhere is free again when that terminal has ended. */
  async #createIfFree(id: string, params: Fields, client: Client): Promise<unknown> {
    const { runtimes } = this.context;
    if (runtimes.routes.isLive(id)) await runtimes.list("session.list");
    if (runtimes.routes.isLive(id)) throw inUse(id);
    runtimes.routes.removeSession(id);
    return await this.#here("pty.create", params, client);
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inUse = (id: string) => new TrlError("INVALID_PARAMS", `session_id: ${id} is in use`);

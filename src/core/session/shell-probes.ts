// Finds out what a shell can do before its first session: a command or two in a session of their own, by the plain path,
// show whether the shell gets its state and reports it. The result is kept for each executable.
import { statSync } from "node:fs";
import type { CreateParams } from "../../protocol/session.ts";
import { newId } from "../../util/ids.ts";
import { bash } from "../command/shell/bash/bash.ts";
import { dialectOf } from "../command/shell/pick.ts";
import { posix } from "../command/shell/posix/posix.ts";
import { CommandStore } from "../command/store.ts";
import { createSession } from "./create-session.ts";
import { noEvents } from "./events.ts";
import type { Session } from "./session.ts";
import type { SessionContext, ShellAbilities } from "./session-spec.ts";

const timeoutS = 10;

/** What is given to the first command, with everything that a shell may misread. */
const given = `it's "one" $x \`y\`\n\\two`;
/** In the session's directory, which its shell has from the state, and with a variable from the prologue. */
const first = `[ "$PWD" = /dev ] && [ -n "$trl_a" ] && echo fed
trl_b=$trl_a; export trl_c=2; umask 027; cd /; (exit 7)`;
/** What the accelerators read of bash: exact values, single bytes of a descriptor. */
const firstOfBash = `trl_d=$'\\001'
[[ $(declare -p trl_d) != *$'\\001\\001'* ]] && { read -r -N 1 trl_d </dev/null; [[ $? == 1 ]]; } && echo modern
${first}`;
/** Prints a word for each part of the state that has arrived. */
const second = `[ $? = 7 ] && echo status
[ "$trl_b" = "$trl_a" ] && echo variables
[ "$(/bin/sh -c 'echo "$trl_c"')" = 2 ] && echo exports
[ "$PWD" = / ] && echo directory
case $(umask) in *27) echo umask;; esac`;
const parts = ["status", "variables", "exports", "directory", "umask"];

/** Of a shell that was not probed, or whose probe could not be carried out. */
export const unknownAbilities = (shell: string): ShellAbilities => ({ isOld: dialectOf(shell) === bash });

/** What a probe found wanting may be the machine's fault, such as a full disk. */
const doubtfulForMs = 60_000;
const shellsMax = 64;

interface Known {
  identity: string | undefined;
  abilities: ShellAbilities;
  /** By performance.now(). */
  until: number;
}

export class ShellProbes {
  readonly #known = new Map<string, Known>();
  readonly #running = new Map<string, Promise<ShellAbilities>>();
  /** Sessions of probes that are being ended. */
  #leaving = 0;

  constructor(
    readonly context: SessionContext,
    readonly isTaken: (id: string) => boolean,
  ) {}

  get isAtRest(): boolean {
    return this.#running.size === 0 && this.#leaving === 0;
  }

  /** Undefined where the shell, or this version of it, was not probed yet. */
  known(shell: string): ShellAbilities | undefined {
    if (!dialectOf(shell)) return { noState: `trl keeps no state of a shell of that name`, isOld: true };
    const known = this.#known.get(shell);
    const isValid = known && known.identity === identityOf(shell) && performance.now() < known.until;
    return isValid ? known.abilities : undefined;
  }

  /** Sessions that are created at the same time share one probe. */
  async probe(shell: string): Promise<ShellAbilities> {
    const running = this.#running.get(shell) ?? this.#probe(shell).finally(() => this.#running.delete(shell));
    this.#running.set(shell, running);
    return await running;
  }

  async #probe(shell: string): Promise<ShellAbilities> {
    const identity = identityOf(shell);
    let abilities = unknownAbilities(shell);
    let isCertain = false;
    try {
      abilities = await this.#abilitiesOf(shell);
      isCertain = isGood(abilities);
      if (!isCertain) abilities = await this.#abilitiesOf(shell); // a signal, or a full machine, may have been the reason
    } catch {
      // Out of processes or descriptors, or too slow: the machine is the reason, and the session finds out by itself.
    }
    if (this.#known.size >= shellsMax) this.#known.clear();
    const until = isCertain ? Number.POSITIVE_INFINITY : performance.now() + doubtfulForMs;
    this.#known.set(shell, { identity, abilities, until });
    const { noState } = abilities;
    if (noState !== undefined) this.context.log.warn("a shell keeps no state", { shell, why: noState });
    return abilities;
  }

  /**
   * The report of bash and zsh is what these shells print to be read again, so one command shows that all works. For
   * the others a second command looks at what has arrived of the first.
   */
  async #abilitiesOf(shell: string): Promise<ShellAbilities> {
    const dialect = dialectOf(shell)!;
    const isBash = dialect === bash;
    return await this.#within({ shell, working_dir: "/dev" }, async (session) => {
      const { printed, failure } = await ending(session, isBash ? firstOfBash : first);
      if (failure !== undefined) return await this.#abilitiesWithout(shell, failure);
      const isOld = isBash && !printed.includes("modern");
      const { workingDir, exportedNames } = session.spec.runner;
      const hasReported = workingDir === "/" && exportedNames.includes("trl_c");
      if (!printed.includes("fed") || !hasReported) return { isOld, noState: "it does not report its state" };
      if (dialect !== posix) return { isOld };
      const arrived = await ending(session, second);
      if (arrived.failure !== undefined) return { isOld, noState: arrived.failure };
      const missing = parts.filter((part) => !arrived.printed.includes(part));
      return missing.length === 0
        ? { isOld }
        : { isOld, noState: `it does not keep its ${missing.join(", ")}` };
    });
  }

  async #abilitiesWithout(shell: string, failure: string): Promise<ShellAbilities> {
    const { printed } = await this.#within({ shell, stateful: false }, (session) =>
      ending(session, "echo works"),
    );
    return printed.includes("works") ? { isOld: true, noState: failure } : { isOld: true, failure };
  }

  /** In a session by the plain path, which no client sees. */
  async #within<T>(
    params: CreateParams & { shell: string },
    act: (session: Session) => Promise<T>,
  ): Promise<T> {
    const context = { ...this.context, commands: new CommandStore(noEvents), accelerators: {} };
    const setup = { shell: params.shell, sessionIsolation: undefined, abilities: { isOld: true } };
    const session = createSession(newId("s", this.isTaken), params, context, setup);
    try {
      await session.open(undefined);
      return await act(session);
    } finally {
      this.#leaving++;
      void session
        .destroy(0)
        .catch(() => {})
        .finally(() => this.#leaving--);
    }
  }
}

const isGood = ({ noState, failure }: ShellAbilities): boolean =>
  noState === undefined && failure === undefined;

/** Throws where the command does not end by itself. */
async function ending(
  session: Session,
  command: string,
): Promise<{ printed: string[]; failure?: string | undefined }> {
  const started = session.start({ command, env: { trl_a: given }, timeout_s: timeoutS }, "run");
  const { reason, failure } = await started.ended;
  if (reason !== "exit" && failure === undefined) throw new Error(`the probe ended by ${reason}`);
  const { head } = started.command.output.stdout.parts(false);
  return { printed: new TextDecoder().decode(head).split("\n"), failure };
}

/** Of the executable that a path leads to now. */
function identityOf(shell: string): string | undefined {
  const stat = statSync(shell, { throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;
}

// Steps that run into limits: of the kernel, where the machine has them, and of the daemon.

import type { WireClient } from "./wire-client.ts";
import { type Step, scarce, step } from "./world.ts";

const trials = [
  {
    limits: { memory_bytes: 48 * 1024 * 1024 },
    command: "head -c 200000000 /dev/zero | tail -c 100000000 | wc -c",
    isRight: ({ reason, limits_hit }: Outcome) => reason === "memory_limit" || limits_hit.includes("memory"),
  },
  {
    limits: { pids: 12 },
    command: "for i in $(seq 30); do sleep 900 & done 2>/dev/null; echo made",
    isRight: ({ limits_hit }: Outcome) => limits_hit.includes("pids"),
  },
  {
    limits: { wall_clock_s: 0.2 },
    command: "sleep 900",
    isRight: ({ reason }: Outcome) => reason === "wall_clock_limit",
  },
  {
    limits: { file_size_bytes: 4096 },
    command: "head -c 100000 /dev/zero > $HOME/large.$$; rm -f $HOME/large.$$; exit 7",
    isRight: ({ exit_code }: Outcome) => exit_code !== 0,
  },
];

interface Outcome {
  reason: string;
  exit_code: number;
  limits_hit: string[];
}

const limited = step({
  name: "limits",
  weight: 0.6,
  draw: (random) => random.pick(trials),
  async act(client: WireClient, { limits, command, isRight }) {
    if (!client.world.canIsolate) return;
    const made = await client.ask("session.create", { isolation: { limits } }, { expected: scarce });
    if (!made?.ok) return;
    client.books.fault("limit met");
    const { session_id } = made.data;
    const reply = await client.ask(
      "exec.run",
      { session_id, command, timeout_s: 1 },
      { expected: ["COMMAND_TIMEOUT"] },
    );
    const data = reply && (reply.ok ? reply.data : reply.error.data);
    if (data && !client.books.isEnding) {
      const { reason, exit_code, receipt } = data;
      if (!isRight({ reason, exit_code, limits_hit: receipt.limits_hit }))
        client.problem(`${JSON.stringify(limits)}: ${JSON.stringify(data)}`);
    }
    await client.end(session_id);
  },
});

const sandboxed = step({
  name: "sandbox",
  weight: 0.4,
  draw: (random) => random.pick(["exec", "pty"]),
  async act(client: WireClient, kind) {
    if (!client.world.canIsolate) return;
    const isolation = { sandbox: {} };
    const command = "echo inside > /tmp/inside && cat /tmp/inside; sleep 901 & exit 0";
    if (kind === "pty") {
      const made = await client.ask("pty.create", { command, isolation }, { expected: scarce });
      if (made?.ok) await client.end(made.data.session_id);
      return;
    }
    const made = await client.ask("session.create", { isolation }, { expected: scarce });
    if (!made?.ok) return;
    const { session_id } = made.data;
    const reply = await client.ask("exec.run", { session_id, command });
    if (reply?.ok && reply.data.stdout !== "inside\n" && !client.books.isEnding)
      client.problem(`sandbox: ${JSON.stringify(reply.data)}`);
    await client.end(session_id);
  },
});

/** A connection may have so many commands and no more; the others are refused, not forgotten. */
const tooMany = step({
  name: "too many commands",
  weight: 0.4,
  draw: (random) => random.between(2, 6),
  async act(client: WireClient, count) {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const made = await client.ask("session.create", {}, { expected: scarce });
      if (made?.ok) ids.push(made.data.session_id);
    }
    const wire = await client.another();
    if (wire) {
      const expected = ["RESOURCE_PRESSURE"] as const;
      const runs = ids.map((session_id) =>
        client.ask("exec.run", { session_id, command: "sleep 0.02" }, { wire, expected }),
      );
      await Promise.all(runs);
      wire.kill();
    }
    await Promise.all(ids.map((id) => client.end(id)));
  },
});

export const limitSteps: Step<unknown, WireClient>[] = [limited, sandboxed, tooMany];

// Secrets stay where they are: in no log, no error, no number, no note and no last words.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../../support/daemon.ts";
import { SocketClient, startHttp } from "../../support/http.ts";
import { newSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";

const secret = "s3cret-0f-s0mebody";
const token = `token-${secret}`;
const flags = ["--verbose", "--log-format", "json"];

test("values of variables, input, output, the token and tickets are in no log, list, number or announcement", async () => {
  await using daemon = await startHttp({ flags, env: { TRL_AUTH_TOKEN: token, OF_THE_DAEMON: secret } });
  using wire = await daemon.connect();
  const session = await newSession(wire, { env: { OF_THE_SESSION: secret } });
  const more = { env: { OF_THE_COMMAND: secret }, stdin: secret };
  const { stdout } = await session.run("cat; echo $OF_THE_DAEMON $OF_THE_SESSION $OF_THE_COMMAND", more);
  expect(stdout.split(secret)).toHaveLength(5);
  await wire.call("pty.create", { session_id: "t", command: "sleep 1000", env: { OF_THE_TERMINAL: secret } });
  await wire.call("pty.write", { session_id: "t", data: secret });
  const { ticket } = (await (await daemon.post("", { path: "/ticket" })).json()) as { ticket: string };
  (await SocketClient.connect(daemon, { path: `/ws?ticket=${ticket}`, headers: {} }))[Symbol.dispose]();
  await expect(SocketClient.connect(daemon, { path: `/ws?ticket=${ticket}`, headers: {} })).rejects.toThrow(
    "refused",
  );
  for (const path of [`/?token=${token}`, `/ws?token=${token}`, `/metrics?token=${token}`])
    expect((await fetch(`${daemon.url}${path}`)).status).toBe(401);
  const told = [await (await daemon.get("/metrics")).text()];
  for (const method of [
    "system.stats",
    "system.describe",
    "session.list",
    "pty.list",
    "exec.list",
    "runtime.list",
  ])
    told.push(JSON.stringify(await wire.request(method, {})));
  told.push(JSON.stringify(await wire.request("session.info", { session_id: session.id })));
  const notes = join(daemon.dir, "daemons");
  told.push(...readdirSync(notes).map((name) => readFileSync(join(notes, name), "utf8")));
  await wire.call("session.destroy", { session_id: session.id });
  await until("the last of it to be logged", () => daemon.log().includes("session ended"));
  for (const text of [...told, daemon.log()]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(ticket);
  }
});

test("an error does not repeat what was sent, however wrong it is", async () => {
  await using daemon = await startHere({ flags });
  using wire = await daemon.connect();
  const { id } = await newSession(wire);
  const large = secret.repeat(40_000);
  const wrong = [
    { env: { NAME: `${secret}\0` } },
    { env: { NAME: { [secret]: secret } } },
    { env: [secret] },
    { env: { [`${secret}=`]: "x" } },
    { stdin: [secret] },
    { stdin: { secret } },
    { timeout_s: secret },
    { max_output_bytes: secret },
    { command: { secret } },
  ];
  const replies: string[] = [];
  for (const stateful of [true, false]) {
    const session = stateful ? id : (await newSession(wire, { stateful })).id;
    for (const params of wrong)
      replies.push(
        (await wire.fail("exec.run", { session_id: session, command: "true", ...params })).message,
      );
  }
  for (const method of ["session.create", "pty.create"])
    for (const params of wrong.slice(0, 4)) replies.push((await wire.fail(method, params)).message);
  replies.push((await wire.fail("pty.create", { command: "true", env: { NAME: large } })).message);
  wire.send(`{"id":1,"method":"exec.run","params":{"env":{"NAME":"${secret}\n`);
  replies.push(
    JSON.stringify(await wire.frame((frame) => frame["ok"] === false && frame["id"] === "unknown")),
  );
  for (const text of [...replies, daemon.log()]) expect(text).not.toContain(secret);
});

test("the last words of a daemon that crashes hold none", async () => {
  await using daemon = await startHere({
    flags: [...flags, "--run-dir", "."],
    env: { TRL_AUTH_TOKEN: token, OF_THE_DAEMON: secret },
  });
  using wire = await daemon.connect();
  const session = await newSession(wire, { env: { OF_THE_SESSION: secret } });
  await session.run(`echo ${secret}`);
  daemon.kill("SIGSEGV");
  expect(await daemon.exited).not.toBe(0);
  await until("its last words", () => daemon.log().includes("Segmentation fault"));
  expect(daemon.log()).not.toContain(secret);
});

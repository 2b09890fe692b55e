// A daemon in a pod. There is no cluster here: a stand-in for kubectl notes how it was called and runs the command on
// this machine, with a home of its own. So what is shown is the command line and the stream, not Kubernetes.
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../../src/client/connect.ts";
import { kubernetesConnector } from "../../../src/remote/connectors/kubernetes.ts";
import { endAll, processesWith } from "../../support/processes.ts";
import {
  checkCommands,
  checkStream,
  checkTerminal,
  copyExecutable,
  patience,
  remoteContext,
  untilLost,
} from "../../support/remote-daemon.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

const standIn = `#!/bin/sh
printf '%s\\n' "$@" >"$STAND_IN/called.$$"
if [ -e "$STAND_IN/refusal" ]; then cat "$STAND_IN/refusal" >&2; exit 1; fi
while [ "$1" != -- ]; do shift; done; shift
HOME=$STAND_IN/home TRL_RUNTIME_DIR=$STAND_IN/runtime
export HOME TRL_RUNTIME_DIR; unset XDG_CACHE_HOME XDG_RUNTIME_DIR
"$@"
code=$?
if [ $code != 0 ]; then echo "command terminated with exit code $code" >&2; fi
exit $code
`;

async function cluster() {
  const dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  mkdirSync(at("bin"));
  writeFileSync(at("bin/kubectl"), standIn, { mode: 0o755 });
  await copyExecutable(at("home"));
  const env = { ...process.env, PATH: `${at("bin")}:${process.env["PATH"]}`, STAND_IN: dir.path };
  const context = remoteContext({ env });
  return {
    context,
    refuse: (words: string) => writeFileSync(at("refusal"), words),
    calls: () =>
      readdirSync(dir.path)
        .filter((name) => name.startsWith("called."))
        .map((name) => readFileSync(at(name), "utf8").trimEnd().split("\n")),
    async [Symbol.asyncDispose]() {
      const pids = existsSync(at("runtime"))
        ? readdirSync(at("runtime")).filter((it) => it.endsWith(".pid"))
        : [];
      await endAll(pids.map((name) => Number(readFileSync(join(at("runtime"), name), "utf8"))));
      context[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

const refusal = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: Error) => error,
  );

describe("in a pod", () => {
  test("commands, streams and terminals, also across a link that is cut", async () => {
    await using kube = await cluster();
    const pod = `worker-${process.pid}`; // no one else's links are to be cut
    const links = () => processesWith(`exec -i ${pod} -- sh -c`);
    const far = kubernetesConnector({ pod }, kube.context);
    await using trl = await connect({ open: far.open }, patience);
    await checkCommands(trl);
    const cut = () => {
      const pids = links();
      for (const pid of pids) process.kill(pid, "SIGKILL");
      return pids.length;
    };
    let cuts = 0;
    await checkStream(trl, (bytes) => {
      if (bytes > (cuts + 1) * 700_000 && cuts < 2 && cut() > 0) cuts++;
    });
    expect(cuts).toBe(2);
    await checkTerminal(trl, async () => {
      const lost = untilLost(trl);
      cut();
      await lost;
    });
    await trl.close();
    await far.dispose();
    await until("the end of the links", () => links().length === 0);
  }, 90_000);

  test("the command line names context, namespace, pod and container", async () => {
    await using kube = await cluster();
    const spec = { pod: "deploy/web", namespace: "prod", container: "app", context: "far" };
    const far = kubernetesConnector(spec, kube.context);
    expect(far.target).toBe("far/prod/deploy/web/app");
    await (await connect({ open: far.open })).close();
    const [call] = kube.calls();
    expect(call!.slice(0, -1)).toEqual([
      ...["exec", "-i", "--context", "far", "--namespace", "prod", "--container", "app"],
      ...["deploy/web", "--", "sh", "-c"],
    ]);
  });

  test.each([
    ['Error from server (NotFound): pods "worker-0" not found', true],
    ["error: cannot exec into a container in a completed pod; current phase is Succeeded", true],
    ["Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout", false],
  ])("%s", async (words, isCertain) => {
    await using kube = await cluster();
    kube.refuse(words);
    const far = kubernetesConnector({ pod: "worker-0" }, kube.context);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      message: `kubernetes worker-0: ${words.replace("error: ", "")}`,
    });
    expect((error!.cause as Error).constructor.name).toBe(isCertain ? "NoDaemonError" : "Error");
  });
});

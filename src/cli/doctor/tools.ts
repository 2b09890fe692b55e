// Checks the programs that connectors use. A missing one is not a problem.

import { type Check, type Finding, note, ok } from "./check.ts";
import { absent, ask, firstLine, late, why } from "./query.ts";

const group = "elsewhere";

export const toolChecks: Check[] = [
  { id: "docker", group, run: checkDocker },
  { id: "ssh", group, run: checkSsh },
  { id: "kubectl", group, run: checkKubectl },
];

async function checkDocker(): Promise<Finding> {
  const answer = await ask("docker", "version", "--format", "{{.Client.Version}} {{.Server.Version}}");
  if (!answer) return absent("docker", "it is needed only for programs in containers");
  if (answer.isLate) return late("docker");
  const [client, server] = firstLine(answer.out).split(" ");
  if (answer.code === 0) return ok(`docker ${client}, daemon ${server}`);
  return note(`docker ${client || "is installed"}, but its daemon cannot be reached`, {
    detail: why(answer),
    remedy: "start it, see that you may use its socket (group docker), or set DOCKER_HOST",
  });
}

async function checkSsh(): Promise<Finding> {
  const answer = await ask("ssh", "-V");
  if (!answer) return absent("ssh", "it is needed only for other machines");
  return answer.isLate ? late("ssh") : ok(firstLine(answer.err || answer.out));
}

async function checkKubectl(): Promise<Finding> {
  const answer = await ask("kubectl", "version", "--client");
  if (!answer) return absent("kubectl", "it is needed only for programs in a cluster");
  if (answer.isLate) return late("kubectl");
  if (answer.code !== 0) return note(`kubectl does not work: ${why(answer)}`);
  return ok(`kubectl ${/v[\d.]+\S*/.exec(answer.out)?.[0] ?? "is installed"}`);
}

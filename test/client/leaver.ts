// A program that leaves everything lying about and closes the client: it must then end, at once and by itself. Says
// how many milliseconds that took.
import { connect, type Target } from "trl/client";

const target = JSON.parse(process.argv[2]!) as Target;
const trl = await connect(target);
const [one, two, three] = await Promise.all([trl.session(), trl.session(), trl.session()]);
one!.run("sleep 60").catch(() => {});
two!.stream("yes");
const read = three!.stream("yes");
for await (const _ of read) break;
const terminal = await trl.terminal({ command: "cat" });
terminal.onOutput(() => {});
terminal.exited.catch(() => {});
terminal.wait({ text: "never" }, { timeoutS: 600 }).catch(() => {});
await Promise.all(
  [one, two, three].map((session) => trl.call("session.destroy", { session_id: session!.id, force: true })),
);
await terminal.close();
const waiting = await trl.terminal({ command: "cat" });
waiting.onOutput(() => {});
waiting.exited.catch(() => {});
await trl.close();
const closed = performance.now();
process.on("exit", () => console.log(Math.round(performance.now() - closed)));

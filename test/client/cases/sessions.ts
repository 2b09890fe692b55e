import assert from "node:assert/strict";
import { type Case, failure } from "../world.ts";

export const sessions: Case[] = [
  {
    name: "session: keeps its state, and is gone when it is disposed of",
    async run(world) {
      const trl = await world.connect();
      let id: string;
      {
        await using session = await trl.session({ workingDir: "/", env: { MARK: "mine" }, timeoutS: 7 });
        id = session.id;
        assert.equal(session.name, null);
        await session.run("cd /usr; other=1");
        const { stdout, workingDir } = await session.run('printf "%s %s" "$MARK" "$other"; pwd');
        assert.equal(stdout, "mine 1/usr\n");
        assert.equal(workingDir, "/usr");
        const info = await session.info();
        assert.equal(info.timeoutS, 7);
        assert.equal(info.commandCount, 2);
        assert.ok(info.envKeys.includes("MARK"));
        session.stream("sleep 60"); // a busy one goes as well
      }
      await failure("the session", trl.openSession(id), "SESSION_NOT_FOUND");
    },
  },
  {
    name: "session: is found by its name, its id and the beginning of its id",
    async run(world) {
      const trl = await world.connect();
      const name = `named ${world.dir}`;
      await using session = await trl.session({ name });
      const another = await world.another();
      for (const wanted of [name, session.id, session.id.slice(0, -1), session.id.slice(2, -1)]) {
        await using found = await another.openSession(wanted);
        assert.equal(found.id, session.id);
        assert.equal(found.name, name);
      }
      assert.equal((await session.run("printf alive")).stdout, "alive"); // who found it only let go
      await failure("no such name", trl.openSession("no such name"), "SESSION_NOT_FOUND");
      await failure("no name at all", trl.openSession(""), "SESSION_NOT_FOUND");
    },
  },
  {
    name: "session: with reuse there is one of a name, which nobody disposes of",
    async run(world) {
      const trl = await world.connect();
      const name = `shared ${world.dir}`;
      let id: string;
      {
        await using first = await trl.session({ name, reuse: true });
        await first.run("mark=kept");
        id = first.id;
      }
      const second = await trl.session({ name, reuse: true });
      assert.equal(second.id, id);
      assert.equal((await second.run('printf "$mark"')).stdout, "kept");
      await using fresh = await trl.session({ name });
      assert.notEqual(fresh.id, id);
      await second.destroy();
      await assert.rejects(trl.session({ reuse: true }), TypeError);
    },
  },
  {
    name: "session: busy ones are destroyed by force, and cancel stops what runs",
    async run(world) {
      const trl = await world.connect();
      const session = await trl.session();
      assert.equal(await session.cancel(), false);
      const running = session.run("sleep 60");
      await failure("destroy", session.destroy(), "SESSION_BUSY");
      assert.equal(await session.cancel(), true);
      assert.equal((await running).reason, "cancelled");
      const again = session.run("sleep 60");
      await session.destroy({ force: true });
      assert.equal((await again).reason, "cancelled");
      await session[Symbol.asyncDispose](); // it is gone already
    },
  },
  {
    name: "session: an option that is not known is told, with the one that is meant",
    async run(world) {
      const trl = await world.connect();
      const wrong = { workingdir: "/" } as object;
      await assert.rejects(trl.session(wrong), /session.create: there is no option "workingdir".*workingDir/);
      await assert.rejects(trl.terminal({ colums: 3 } as object), /pty.create: there is no option "colums"/);
    },
  },
];

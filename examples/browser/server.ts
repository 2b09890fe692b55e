// The page's own server. It keeps the daemon's token, with which commands can be run; the page gets tickets, each good for
// one connection. This server decides which requests get one: here, those with the key in the address that it prints.
import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import page from "./index.html";

const { TRL_URL: url = "http://127.0.0.1:9100", PORT: port = "5173" } = process.env;
const token = process.env["TRL_AUTH_TOKEN"] ?? tokenFrom("/tmp/trl.token");
// A port of this machine is open to all its users and to every page in its browsers, so being asked is not enough. The
// key is behind a `#`, which no browser sends to any server.
const key = Buffer.from(randomBytes(16).toString("hex"));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  routes: {
    "/": page,
    "/daemon": { POST: (request) => forThePage(request, () => Response.json({ url })) },
    "/ticket": { POST: (request) => forThePage(request, askForTicket) },
  },
});
console.log(`http://127.0.0.1:${server.port}/#${key}`);

async function forThePage(request: Request, answer: () => Response | Promise<Response>): Promise<Response> {
  const given = Buffer.from(request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "");
  if (given.length === key.length && timingSafeEqual(given, key)) return await answer();
  return Response.json({ error: "open the address that the server has printed" }, { status: 401 });
}

async function askForTicket(): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  try {
    const response = await fetch(`${url}/ticket`, {
      method: "POST",
      headers,
      signal: AbortSignal.timeout(5000),
    });
    const { ticket, error } = (await response.json()) as { ticket?: string; error?: { message: string } };
    if (ticket !== undefined) return Response.json({ ticket });
    return Response.json({ error: `the daemon on ${url}: ${error?.message}` }, { status: 502 });
  } catch {
    return Response.json({ error: `no daemon is listening on ${url}` }, { status: 502 });
  }
}

function tokenFrom(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    console.error(`${file} is missing: start the daemon first, or set TRL_AUTH_TOKEN to its token`);
    process.exit(1);
  }
}

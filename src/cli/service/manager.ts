// The interface of a service manager, systemd or launchd, and the marker in its files.

export interface ServicePlan {
  /** The executable by its absolute path; from source, Bun and the entry file. */
  program: string[];
  serveFlags: string[];
  socketPath: string;
  /** PATH, because the manager's is too short to find most tools, and settings of the JavaScript engine. */
  environment: Record<string, string>;
}

export interface ServiceState {
  isEnabled: boolean;
  isActive: boolean;
  pid: number | null;
}

/** A program and its arguments. */
export type Command = [string, ...string[]];

export interface Surroundings {
  home: string;
  uid: number;
  env: Record<string, string | undefined>;
}

export interface ServiceManager {
  name: string;
  /** The environment of its commands. */
  env: Surroundings["env"];
  /** Path of the unit or plist. */
  file: string;
  fileText(plan: ServicePlan): string;
  /** Undefined if the manager answers. */
  whyUnreachable(): Promise<string | undefined>;
  state(): Promise<ServiceState>;
  /** Run after writing the file: start at each login, but not now. */
  enable: Command[];
  /** Like `enable`, and start now. */
  enableAndStart: Command[];
  /** The same for a service that the manager knows already, but that does not run. */
  startAgain: Command[];
  /** A command that failed for a moment only may be repeated; one that had nothing to do has succeeded. */
  judge?(command: Command, code: number | null): "transient" | "done" | undefined;
  /** Run before removing the file. */
  stopAndDisable: Command[];
  afterRemoval: Command[];
  /** For the user's shell: applies new settings; ends all sessions. */
  restart: string;
  whereItsLogIs: string;
  /** A notice for after the installation. */
  advice(): Promise<string | undefined>;
}

const mark = "trl-service";

/** Marks a file as written by trl and holds the socket path. Avoids "--", which is not allowed in XML comments. */
export const markerOf = ({ socketPath }: ServicePlan): string =>
  `${mark} ${JSON.stringify({ socket: socketPath }).replaceAll("--", "-\\u002d")}`;

/** Undefined if trl did not write the file. */
export function readMarker(text: string): { socket: string } | undefined {
  const json = new RegExp(`${mark} (\\{.*\\})`).exec(text)?.[1];
  try {
    const { socket } = JSON.parse(json ?? "");
    return typeof socket === "string" ? { socket } : undefined;
  } catch {
    return undefined;
  }
}

// What a service is made of, whoever keeps it running: systemd or launchd.

export interface ServicePlan {
  /** The executable by its absolute path; from source, Bun and the entry file. */
  program: string[];
  serveFlags: string[];
  socketPath: string;
  /** PATH, as that of the manager is too short to find most tools, and settings of the JavaScript engine. */
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
  /** Where the service is described. */
  file: string;
  fileText(plan: ServicePlan): string;
  /** Why it cannot be spoken with from here, if so. */
  whyUnreachable(): Promise<string | undefined>;
  state(): Promise<ServiceState>;
  /** After the file was written: known and started at each login, but not now. */
  enable: Command[];
  /** The same, and started now. */
  enableAndStart: Command[];
  /** Before the file is removed. */
  stopAndDisable: Command[];
  afterRemoval: Command[];
  /** To give it new settings, which ends its sessions. */
  restart: Command[];
  whereItsLogIs: string;
  /** What a user should know who expects it to run. */
  advice(): Promise<string | undefined>;
}

const mark = "trl-service";

/** The line that says that the file is ours, and where the socket is. No "--", which a comment in XML must not hold. */
export const markerOf = ({ socketPath }: ServicePlan): string =>
  `${mark} ${JSON.stringify({ socket: socketPath }).replaceAll("--", "-\\u002d")}`;

/** Undefined where the file was not written by trl. */
export function readMarker(text: string): { socket: string } | undefined {
  const json = new RegExp(`${mark} (\\{.*\\})`).exec(text)?.[1];
  try {
    const { socket } = JSON.parse(json ?? "");
    return typeof socket === "string" ? { socket } : undefined;
  } catch {
    return undefined;
  }
}

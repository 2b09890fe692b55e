// What a sandbox is made of, whoever makes it.

export interface SandboxSpec {
  /** What is / inside. */
  root: string;
  network: boolean;
  /** The directory that is /tmp inside; undefined where /tmp is as read-only as the rest. */
  privateTmp: string | undefined;
  writable: string[];
  hidden: string[];
  /** The files of one shell, writable and at the same place inside. Those of other shells are not to be seen. */
  ownDir: string | undefined;
  /** What leads to this daemon, to others and to services: whoever reaches them could do everything outside. */
  secrets: string[];
}

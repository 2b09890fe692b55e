// Attaching clients to commands.
import type { KnownCommand } from "../../core/command/command.ts";
import type { Offsets } from "../../core/command/output.ts";
import { TrlError } from "../../protocol/errors.ts";
import { Attachment, type AttachmentSpec } from "../attachment.ts";
import type { RequestContext } from "../request-context.ts";
import type { HandlerServices, Handlers } from "./handlers.ts";

export type AttachmentHandlers = Pick<Handlers, "exec.attach" | "exec.ack" | "exec.detach">;

export function attachmentHandlers(services: HandlerServices): AttachmentHandlers {
  const { registry, stallTimeoutS } = services;
  return {
    "exec.attach": ({ stream_id, encoding = "utf8", ...wanted }, context) => {
      const { command, sessionId, endedAt } = registry.commands.get(stream_id);
      registry.touch(sessionId);
      const { stdout, stderr } = command.output;
      const asked = { stdout: wanted.stdout_offset ?? 0, stderr: wanted.stderr_offset ?? 0 };
      refuseBeyondEnd(asked, { stdout: stdout.totalBytes, stderr: stderr.totalBytes });
      const onCharacters = encoding === "utf8";
      const from = {
        stdout: stdout.resumeFrom(asked.stdout, onCharacters),
        stderr: stderr.resumeFrom(asked.stderr, onCharacters),
      };
      attach(command, context, services, {
        from: { ...from },
        encoding,
        stallTimeoutS: wanted.stall_timeout_s ?? stallTimeoutS,
        windowBytes: windowOf(wanted),
        resumeKey: wanted.resume_key,
      });
      return {
        stream_id,
        session_id: sessionId,
        state: endedAt ? "ended" : "running",
        stdout_offset: from.stdout,
        stderr_offset: from.stderr,
        stdout_bytes: stdout.totalBytes,
        stderr_bytes: stderr.totalBytes,
        truncated: !stdout.hasAllFrom(asked.stdout) || !stderr.hasAllFrom(asked.stderr),
      };
    },

    "exec.ack": ({ stream_id, stdout_offset, stderr_offset }, { connection: { attachments } }) => {
      const offsets = { stdout: stdout_offset ?? 0, stderr: stderr_offset ?? 0 };
      for (const attachment of attachments.get(stream_id) ?? []) attachment.acknowledge(offsets);
      return { stream_id };
    },

    "exec.detach": async ({ stream_id }, { connection: { attachments, queue } }) => {
      registry.commands.get(stream_id);
      const attached = [...(attachments.get(stream_id) ?? [])];
      for (const attachment of attached) attachment.end();
      await queue.drained(); // frames of this attachment must not follow the reply to a new exec.attach
      return { stream_id, detached: attached.length > 0 };
    },
  };
}

export function attach(
  command: KnownCommand,
  context: RequestContext,
  { resumePoints, streamFrames }: HandlerServices,
  how: Pick<AttachmentSpec, "from" | "encoding" | "stallTimeoutS" | "windowBytes" | "resumeKey">,
): void {
  const { queue, attachments } = context.connection;
  const own = attachments.get(command.id) ?? new Set();
  attachments.set(command.id, own);
  const attachment = new Attachment({
    ...how,
    command,
    queue,
    resumePoints,
    frames: streamFrames,
    onEnd: () => {
      own.delete(attachment);
      if (own.size === 0) attachments.delete(command.id);
    },
  });
  own.add(attachment);
  context.afterReply(() => attachment.start());
}

/** Resuming needs acknowledgements: they decide how much output is kept. */
export function windowOf(wanted: { window_bytes?: number | undefined; resume_key?: string | undefined }) {
  if (wanted.resume_key !== undefined && wanted.window_bytes === undefined)
    throw new TrlError("INVALID_PARAMS", "resume_key: expected with window_bytes");
  return wanted.window_bytes;
}

export function refuseBeyondEnd(asked: Offsets, total: Offsets): void {
  for (const stream of ["stdout", "stderr"] as const) {
    if (asked[stream] <= total[stream]) continue;
    throw new TrlError(
      "INVALID_PARAMS",
      `${stream}_offset: expected at most ${total[stream]}, which is where ${stream} ends now`,
    );
  }
}

// Frames of a terminal in another runtime, as the frontend dialect says them.

import { fieldsOf } from "../../remote/subscriptions/frame-text.ts";
import type { Presentation } from "../../remote/subscriptions/terminal.ts";
import { type Spelling, spell } from "./state.ts";

export const presentationOf = (spelling: Spelling): Presentation => ({
  isFrontend: true,
  output: (data, { id }) => spell("SessionOutput", { session_id: id, data }, spelling),
  other: (frame) => {
    if (frame.type !== "exit") return undefined;
    const { exit_code, signal, error } = fieldsOf(frame) as {
      exit_code: number;
      signal: string | null;
      error?: { message: string };
    };
    const why = error ? { error: error.message } : {};
    return spell("SessionClosed", { session_id: frame.id, exit_code, signal, ...why }, spelling);
  },
});

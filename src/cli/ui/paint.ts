// Colours of standard output.
import { hasColour, type Paint, paintFor } from "../../util/style.ts";

export const stdoutPaint = (): Paint => paintFor(hasColour(process.stdout.isTTY === true, process.env));

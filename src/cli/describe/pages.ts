// Text of `trl describe`: an overview of all methods, or one method in full.
import type { DescribeResult } from "../../protocol/system.ts";
import type { Paint } from "../../util/style.ts";
import { hanging, wrap } from "../ui/wrap.ts";
import { type Field, fieldsOf, type Schema } from "./schema-text.ts";

export interface Look {
  paint: Paint;
  columns: number;
}

type Method = DescribeResult["methods"][string];

export function overviewPage(described: DescribeResult, { paint, columns }: Look): string {
  const { version, protocol_version, platform, methods, error_codes, limits, capabilities } = described;
  const blocks = Object.entries(methods).map(([name, method]) => {
    const params = fieldsOf(method.params as Schema).filter((field) => !/[.]/.test(field.name));
    const lines = wrap(params.map(inShort), columns - 6, ", ").map((line) => `\n      ${paint("dim", line)}`);
    return `  ${paint("bold", name)}  ${hanging(method.summary, name.length + 4, columns)}${lines.join("")}`;
  });
  const codes = Object.entries(error_codes).map(([name, { http, exit }]) => [
    name,
    `HTTP ${http}`,
    `exit ${exit}`,
  ]);
  return [
    `trl ${version}, protocol ${protocol_version}, ${platform.os} ${platform.arch}, Bun ${platform.bun}`,
    `${paint("bold", "Methods")} (a ? is behind what may be left out; one in full: trl describe METHOD)\n${blocks.join("\n")}`,
    `${paint("bold", "Error codes")}\n${rows(codes)}`,
    `${paint("bold", "Limits")}\n${rows(Object.entries(limits).map(([name, value]) => [name, String(value)]))}`,
    `${paint("bold", "Capabilities")}\n${rows(Object.entries(capabilities).map(([name, value]) => [name, plain(value)]))}`,
  ].join("\n\n");
}

const plain = (value: unknown) =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value);

export function methodPage(name: string, method: Method, { paint, columns }: Look): string {
  const section = (title: string, schema: unknown) => {
    const fields = fieldsOf(schema as Schema);
    return `${paint("bold", title)}\n${fields.length > 0 ? fieldRows(fields, columns) : "  none"}`;
  };
  const events = Object.entries(method.events ?? {});
  return [
    `${paint("bold", name)}  ${hanging(method.summary, name.length + 2, columns)}`,
    section("Params", method.params),
    section("Result", method.result),
    ...events.map(([type, schema]) => section(`Frame of type ${type}, after the reply`, schema)),
  ].join("\n\n");
}

const inShort = ({ name, isOptional, type }: Field) => `${name}${isOptional ? "?" : ""}: ${type}`;

function rows(cells: string[][]): string {
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => row[i]!.length))) ?? [];
  return cells
    .map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ")}`.trimEnd())
    .join("\n");
}

/** A longer type has its own line, so that the notes column stays narrow. */
const typeColumnMax = 28;

function fieldRows(fields: Field[], columns: number): string {
  const nameWidth = Math.max(...fields.map(({ name }) => name.length));
  const typeWidth = Math.min(typeColumnMax, Math.max(...fields.map(({ type }) => type.length)));
  const indent = 2 + nameWidth + 2 + typeWidth + 2;
  return fields
    .map(({ name, type, notes }) => {
      const start = `  ${name.padEnd(nameWidth)}  ${type.padEnd(typeWidth)}`;
      const lines = wrap(notes.split(" "), Math.max(20, columns - indent), " ");
      if (type.length > typeWidth && notes !== "") lines.unshift("");
      return lines
        .map((line, i) => ((i === 0 ? `${start}  ` : " ".repeat(indent)) + line).trimEnd())
        .join("\n");
    })
    .join("\n");
}

// Which implementations a switch leaves. Of quick-check and simd nothing else can be seen: their results are the same.
import { expect, test } from "bun:test";
import { createAccelerators } from "../../../src/fast/accelerators.ts";
import { QuickValidator } from "../../../src/fast/quick-check/quick-check.ts";
import { WideEncoder } from "../../../src/fast/simd/wide-encoder.ts";
import { parseFast } from "../../../src/fast/switches.ts";
import { plainValidator } from "../../../src/protocol/validate.ts";
import { scalarEncoder } from "../../../src/util/byte-encoder.ts";
import { withoutThreads } from "../../../src/util/engine-settings.ts";

test("with none, everything is the plain implementation", () => {
  const { core, validator, encoder } = createAccelerators(parseFast("none"), {});
  expect(core).toEqual({ runners: {}, readsDirectly: false });
  expect(validator).toBe(plainValidator);
  expect(encoder).toBe(scalarEncoder);
});

test("with all, nothing is", () => {
  const { core, validator, encoder } = createAccelerators(parseFast("all"), {});
  expect(Object.keys(core.runners).sort()).toEqual(["directExec", "inPlace", "reportPlanner", "shellSupply"]);
  expect(core).toMatchObject({ readsDirectly: true });
  expect(validator).toBeInstanceOf(QuickValidator);
  expect(encoder).toBeInstanceOf(WideEncoder);
});

test("-quick-check and -simd leave the others", () => {
  expect(createAccelerators(parseFast("-quick-check"), {})).toMatchObject({
    validator: plainValidator,
    encoder: {},
  });
  const { core, encoder } = createAccelerators(parseFast("-simd"), {});
  expect(encoder).toBe(scalarEncoder);
  expect(core.readsDirectly).toBe(true);
});

test("where the engine may start no threads, nothing is compiled to WebAssembly", () => {
  const { encoder } = createAccelerators(parseFast("all"), withoutThreads);
  expect(encoder).toBe(scalarEncoder);
});

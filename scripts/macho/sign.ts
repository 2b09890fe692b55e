// Signs executables for macOS ad hoc, on any platform, as `codesign --sign -` does on a Mac. `bun build --compile` moves
// __LINKEDIT to make room for the program; for arm64 it signs the result with its own signer, which leaves the
// entitlements out, and for x64 it leaves the signature of Bun's release in the file, which no longer fits.
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import {
  codeSignatureCommand,
  command,
  header,
  type Image,
  linkeditData,
  readImage,
  segment,
} from "./image.ts";
import { type Identity, makeSignature, signatureBytes } from "./signature.ts";
import { inspectSignature } from "./verify.ts";

/** Those of Bun's own releases for macOS, in their order. signature.ts says what they are for. */
export const trl: Identity = {
  identifier: "trl",
  entitlements: [
    "com.apple.security.cs.allow-jit",
    "com.apple.security.cs.allow-unsigned-executable-memory",
    "com.apple.security.cs.disable-executable-page-protection",
    "com.apple.security.cs.allow-dyld-environment-variables",
    "com.apple.security.cs.disable-library-validation",
  ],
};

/** `codesign_allocate` aligns the start and the size of a signature like this. */
const alignment = 16;
const largest = 0xffff_ffff; // dataoff and codeLimit have 32 bits

const alignUp = (value: number, to: number): number => Math.ceil(value / to) * to;

/** The same file with an ad hoc signature instead of the one that it has, if any. */
export function signMachO(file: Uint8Array, identity: Identity): Uint8Array {
  const image = readImage(file);
  const contentEnd = image.signature?.offset ?? image.linkedit.offset + image.linkedit.bytes;
  const codeLimit = alignUp(contentEnd, alignment);
  const size = alignUp(signatureBytes(codeLimit, identity), alignment);
  if (codeLimit + size > largest) throw new Error("cannot sign the file: it has more than 4 GiB");
  const signed = new Uint8Array(codeLimit + size);
  signed.set(file.subarray(0, contentEnd));
  // Load commands first: they are in the first page, whose hash is in the signature.
  writeCommands(new DataView(signed.buffer), image, { codeLimit, size });
  signed.set(makeSignature(signed.subarray(0, codeLimit), image.text, identity), codeLimit);
  return signed;
}

/** The end of __LINKEDIT becomes the end of the signature, and LC_CODE_SIGNATURE names its range. */
function writeCommands(
  view: DataView,
  image: Image,
  { codeLimit, size }: { codeLimit: number; size: number },
): void {
  const at = image.signature?.at ?? addCommand(view, image);
  view.setUint32(at + linkeditData.dataoff, codeLimit, true);
  view.setUint32(at + linkeditData.datasize, size, true);
  const { linkedit, pageBytes } = image;
  const bytes = codeLimit + size - linkedit.offset;
  view.setBigUint64(linkedit.at + segment.filesize, BigInt(bytes), true);
  view.setBigUint64(linkedit.at + segment.vmsize, BigInt(alignUp(bytes, pageBytes)), true);
}

function addCommand(view: DataView, { commandsEnd, spareBytes }: Image): number {
  if (spareBytes < linkeditData.bytes)
    throw new Error(
      `cannot sign the file: ${spareBytes} bytes are free behind its load commands, and ${linkeditData.bytes} are needed; ` +
        "link it with -headerpad 0x100",
    );
  view.setUint32(commandsEnd + command.cmd, codeSignatureCommand, true);
  view.setUint32(commandsEnd + command.cmdsize, linkeditData.bytes, true);
  view.setUint32(header.ncmds, view.getUint32(header.ncmds, true) + 1, true);
  view.setUint32(header.sizeofcmds, view.getUint32(header.sizeofcmds, true) + linkeditData.bytes, true);
  return commandsEnd;
}

/** Signs trl's executable and checks the result. The file is replaced: macOS keeps the old signature of an inode. */
export function signExecutable(path: string): void {
  const signed = signMachO(readFileSync(path), trl);
  const { problems } = inspectSignature(signed);
  if (problems.length > 0) throw new Error(`${path} is signed wrongly:\n  ${problems.join("\n  ")}`);
  const temporary = `${path}.signed`;
  writeFileSync(temporary, signed);
  chmodSync(temporary, statSync(path).mode);
  renameSync(temporary, path);
}

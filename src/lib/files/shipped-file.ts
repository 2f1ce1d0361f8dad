import { existsSync } from 'node:fs'

const lineFeed = 10

/** A file that the build puts into the binary; undefined where the program runs from source. */
export function embeddedFile(name: string): Blob | undefined {
  // `Bun.embeddedFiles` would count them as 40 MB of the heap, so that garbage is collected later.
  const path = `/$bunfs/root/${name}.zst`
  return existsSync(path) ? Bun.file(path) : undefined
}

/** A file to ship: a line with its fingerprint, then its content, packed. */
export const shippedFile = (
  line: string,
  content: string | Uint8Array<ArrayBuffer>,
  level = 19,
): Blob => new Blob([`${line}\n`, Bun.zstdCompressSync(content, { level })])

/** The same of other files, packed in another thread. */
export const packFile = async (line: string, content: Uint8Array, level: number): Promise<Blob> =>
  new Blob([`${line}\n`, await Bun.zstdCompress(content as Uint8Array<ArrayBuffer>, { level })])

/** The line of a shipped file; its content is unpacked when it is requested. */
export async function readShippedFile(
  file: Blob,
): Promise<{ line: string; content(): Uint8Array }> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const lineEnd = bytes.indexOf(lineFeed)
  return {
    line: new TextDecoder().decode(bytes.subarray(0, lineEnd)),
    content: () => Bun.zstdDecompressSync(bytes.subarray(lineEnd + 1)),
  }
}

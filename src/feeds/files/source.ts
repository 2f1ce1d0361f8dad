import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

const chunkBytes = 512 * 1024
const lineFeed = 10
const headBytes = 64 * 1024

/** A file that can be read from its beginning more than once. */
export interface Source {
  /** As the person named it, for messages. */
  name: string
  path: string
  sizeBytes: number
  /** This many lines at its beginning are passed over as if they were empty. */
  prefaceLines?: number
  /** The publisher's names of series and our codes for them, where the format is known. */
  series?: PublisherSeries
  /** The publisher of the values, where the format of the file implies one: `EIA`. */
  publisher?: string
  /** A hint for the error when the columns are not understood: the other sheets of a workbook. */
  hint?: string
  close(): Promise<void>
}

/** Reads something of a source; errors name the source, with its hint. */
export function namingSource<T>({ name, hint }: Source, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}${hint ? ` ${hint}` : ''}`)
  }
}

/** Opens what a person named: a path, or `-` for standard input. */
export type SourceOpener = (
  path: string,
  stdin: AsyncIterable<Uint8Array>,
  spoolDirectory: string,
) => Promise<Source>

/** Codes by the name that a publisher has for their series; `factor`: units of the code in one of the publisher's. */
export type PublisherSeries = ReadonlyMap<
  string,
  readonly { code: string; factor: string; unit: string }[]
>

/**
 * The file at `path`. Input that cannot be rewound (`-` for standard input, a pipe) is first copied
 * into `spoolDirectory`, because the format of a file shows in its first bytes. Throws a sentence
 * when there is nothing to read.
 */
export async function openSource(
  path: string,
  stdin: AsyncIterable<Uint8Array>,
  spoolDirectory: string,
): Promise<Source> {
  if (path === '-') return { name: 'standard input', ...(await stored(stdin, spoolDirectory)) }
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT'
        ? `${path} does not exist`
        : `${path} cannot be read: ${error.message}`,
    )
  })
  if (file.isDirectory()) throw new Error(`${path} is a directory: name the files in it`)
  if (!file.isFile())
    return { name: path, ...(await stored(createReadStream(path), spoolDirectory)) }
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path} cannot be read: ${error.message}`)
  })
  await handle.close()
  return { name: path, path, sizeBytes: file.size, close: async () => {} }
}

/**
 * Content in a file that can be read more than once. Where the system has a path for an open file,
 * the file has no name: nothing is left of it however this process ends.
 */
export async function stored(
  content: AsyncIterable<string | Uint8Array> | Iterable<string>,
  directory: string,
): Promise<Pick<Source, 'path' | 'sizeBytes' | 'close'>> {
  const folder = await mkdtemp(join(directory, 'wellhead-import-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  let path = join(folder, 'input')
  const file = await open(path, 'wx', 0o600)
  const close = async () => {
    await file.close()
    await remove()
  }
  try {
    if (process.platform === 'linux') {
      await remove()
      path = `/proc/self/fd/${file.fd}`
    }
    await pipeline(Readable.from(content), createWriteStream(path))
    return { path, sizeBytes: (await file.stat()).size, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The content of a source, unpacked when its first bytes are those of gzip; `received` gets the
 * bytes of the file itself as they are read.
 */
export async function* contentOf(
  source: Source,
  received: (bytes: Uint8Array) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const preface = source.prefaceLines ?? 0
  if (preface > 0) {
    yield* withoutPreface(contentOf({ ...source, prefaceLines: 0 }, received), preface)
    return
  }
  if (!(await isGzip(source.path))) {
    yield* chunksOf(source.path, received)
    return
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes })
  // The iteration below reports the error; without a catch here it would also be an unhandled
  // rejection.
  pipeline(Readable.from(chunksOf(source.path, received)), gunzip).catch(() => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (error) {
    const cut = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
    throw new Error(
      cut
        ? `${source.name} is cut off: its gzip data ends too early`
        : `${source.name} is damaged: ${(error as Error).message} in its gzip data`,
    )
  }
}

/** The content with its first lines blanked, so that line numbers stay the same. */
async function* withoutPreface(
  chunks: AsyncIterable<Uint8Array>,
  lines: number,
): AsyncGenerator<Uint8Array> {
  let left = lines
  for await (const chunk of chunks) {
    let from = 0
    for (; left > 0; left -= 1) {
      const end = chunk.indexOf(lineFeed, from)
      if (end < 0) break
      from = end + 1
    }
    if (left > 0) continue
    if (lines > 0) yield Buffer.alloc(lines, lineFeed)
    lines = 0
    yield chunk.subarray(from)
  }
}

async function* chunksOf(
  path: string,
  received: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, {
    highWaterMark: chunkBytes,
  }) as AsyncIterable<Uint8Array>) {
    received(chunk)
    yield chunk
  }
}

async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await handle.close()
  }
}

/** The first bytes of the unpacked content, whatever it is; all of a small file. */
export async function firstBytes(source: Source): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of contentOf(source)) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= headBytes) break
  }
  return Buffer.concat(chunks).subarray(0, headBytes)
}

/**
 * The first bytes of the unpacked content, enough to detect the format; all of a small file. Throws
 * a sentence for content that cannot be text.
 */
export async function headOf(source: Source): Promise<Uint8Array> {
  const head = withoutMark(await firstBytes(source))
  const is = (...magic: number[]) => magic.every((byte, i) => head[i] === byte)
  if (is(0x50, 0x4b, 3, 4))
    throw new Error(
      `${source.name} is a ZIP archive or a spreadsheet: unpack it, or save it as CSV`,
    )
  if (is(0xff, 0xfe) || is(0xfe, 0xff))
    throw new Error(`${source.name} is UTF-16 text: save it as UTF-8`)
  if (head.includes(0))
    throw new Error(`${source.name} is not a text file: CSV or NDJSON is read, plain or gzip`)
  return head
}

/** The text after a UTF-8 byte order mark. */
export const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

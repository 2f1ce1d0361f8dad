import { createHash, timingSafeEqual } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../../../lib/files/error-text.ts'
import { appendWhole } from '../../../../lib/files/write-whole.ts'
import { keyedHash } from '../../../../lib/secrets/keyed-hash.ts'

export const fileKinds = ['prices', 'vintages', 'datasets'] as const

export interface FileContent {
  /**
   * One of `fileKinds`: current prices, all revisions of prices, current datasets; or the name of a
   * dataset, for all that its rows ever were.
   */
  kind: string
  /** A year, or of datasets as they are the name of one. */
  of: string
}

export interface PriceFile {
  kind: string
  /** `2026.parquet`, `rig-counts.parquet`. */
  name: string
  bytes: number
  rows: number
  /** The hash of the whole file, in hexadecimal digits. */
  sha256: string
  /** When its bytes last changed, Unix ms. */
  changedAt: number
}

/** A file that could not be made; the one of an earlier night stays. */
export interface FileFailure {
  kind: string
  /** Empty: all files of the kind, which could not be listed. */
  name: string
  reason: string
}

export interface Manifest {
  /** When the files were last compared with the prices, Unix ms. */
  madeAt: number
  files: PriceFile[]
  failures: FileFailure[]
}

/** The files that are wanted, in the order of their list, and kinds that could not be listed. */
export interface WantedFiles {
  contents: readonly FileContent[]
  failures: readonly FileFailure[]
}

/** The rows of a file, as they go into it. */
export interface FileRows {
  rows: number
  pieces: AsyncIterable<Uint8Array>
}

/** The nightly files: of prices one of each kind a year, by code and time; of each dataset too. */
export type PriceFiles = ReturnType<typeof createPriceFiles>

const manifestName = 'manifest.json'

/** `directory` is empty where none are wanted. */
export function createPriceFiles(directory: string, masterKey: string, now: () => number) {
  let failures: readonly FileFailure[] = []

  /** Undefined before the first night, and where there is no directory for them. */
  const manifest = async (): Promise<Manifest | undefined> => {
    if (directory === '') return undefined
    const text = await readFile(join(directory, manifestName), 'utf8').catch(absent)
    if (text === undefined) return undefined
    const stored = JSON.parse(text) as Omit<Manifest, 'failures'> & Partial<Manifest>
    const noted = { ...stored, failures: stored.failures ?? [] }
    failures = noted.failures
    // Files of older versions are of prices.
    return { ...noted, files: stored.files.map(file => ({ ...file, kind: file.kind ?? 'prices' })) }
  }

  /** The signature that lets the bearer read a file until then. */
  const sign = (name: string, expiresAt: number) =>
    Buffer.from(keyedHash(masterKey, 'price files', `${name} ${expiresAt}`)).toString('base64url')

  /** Writes a file, and puts it in place where its content is another than before. */
  const rebuilt = async (
    { kind, name }: Pick<PriceFile, 'kind' | 'name'>,
    old: PriceFile | undefined,
    read: () => Promise<FileRows>,
  ): Promise<PriceFile> => {
    const folder = join(directory, kind)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const partial = join(folder, `${name}.partial`)
    try {
      const { rows, pieces } = await read()
      const { bytes, sha256 } = await written(partial, pieces)
      const isSame = old?.sha256 === sha256
      if (!isSame) await rename(partial, join(folder, name))
      return { kind, name, bytes, rows, sha256, changedAt: isSame ? old.changedAt : now() }
    } finally {
      await rm(partial, { force: true })
    }
  }

  return {
    manifest,
    /** What could not be made when the files were last made, or their list was read. */
    failures: () => failures,
    /** Notes that none could be made. */
    failed(error: unknown) {
      failures = [{ kind: '', name: '', reason: reasonOf(error) }]
    },
    /** Where a file of the manifest lies. */
    pathOf: ({ kind, name }: PriceFile) => join(directory, kind, name),
    /**
     * Rebuilds files; unchanged ones are kept, and so are those that fail, each by itself.
     * `repeats`: only those that failed before.
     */
    async make(
      wanted: WantedFiles,
      read: (content: FileContent) => Promise<FileRows>,
      { repeats = false } = {},
    ): Promise<Manifest> {
      const before = await manifest()
      const files: PriceFile[] = []
      const missed = [...wanted.failures]
      const isDone = (kind: string, name: string) =>
        repeats &&
        !before?.failures.some(
          failure => failure.kind === kind && (failure.name === name || failure.name === ''),
        )
      for (const content of wanted.contents) {
        const { kind } = content
        const name = `${content.of}.parquet`
        const old = before?.files.find(file => file.name === name && file.kind === kind)
        try {
          const isKept = old && isDone(kind, name)
          files.push(isKept ? old : await rebuilt({ kind, name }, old, () => read(content)))
        } catch (error) {
          missed.push({ kind, name, reason: reasonOf(error) })
          if (old) files.push(old)
        }
      }
      for (const { kind } of wanted.failures)
        files.push(...(before?.files ?? []).filter(file => file.kind === kind))
      const newManifest = { madeAt: now(), files, failures: missed }
      const path = join(directory, manifestName)
      const text = Buffer.from(JSON.stringify(newManifest, undefined, 2))
      try {
        await written(`${path}.partial`, once(text))
        await rename(`${path}.partial`, path)
      } finally {
        await rm(`${path}.partial`, { force: true })
      }
      failures = missed
      return newManifest
    },
    sign,
    accepts(name: string, expiresAt: number, signature: string) {
      const [received, right] = [Buffer.from(signature), Buffer.from(sign(name, expiresAt))]
      return (
        expiresAt > now() && received.length === right.length && timingSafeEqual(received, right)
      )
    },
  }
}

/** A failure as a sentence, without a capital letter and a full stop. */
export function failureText({ kind, name, reason }: FileFailure): string {
  if (kind === '') return `no nightly file could be made: ${reason}`
  return name === ''
    ? `the nightly files of ${kind} could not be listed: ${reason}`
    : `the nightly file ${kind}/${name} could not be made: ${reason}`
}

const absent = (error: unknown): undefined => {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
}

const reasonOf = (error: unknown): string => errorText(error).slice(0, 300)

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function written(path: string, pieces: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256')
  const file = await open(path, 'w', 0o600)
  let bytes = 0
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      await appendWhole(file, piece)
      bytes += piece.byteLength
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

import { createHash, timingSafeEqual } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keyedHash } from '../../../lib/secrets/keyed-hash.ts'

export const fileKinds = ['prices', 'vintages', 'datasets'] as const

/** The content of a file. */
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

export interface Manifest {
  /** When the files were last compared with the prices, Unix ms. */
  madeAt: number
  files: PriceFile[]
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
  /** Undefined before the first night, and where there is no directory for them. */
  const manifest = async (): Promise<Manifest | undefined> => {
    if (directory === '') return undefined
    const text = await readFile(join(directory, manifestName), 'utf8').catch(() => undefined)
    if (text === undefined) return undefined
    const { madeAt, files } = JSON.parse(text) as Manifest
    // Files of older versions are of prices.
    return { madeAt, files: files.map(file => ({ ...file, kind: file.kind ?? 'prices' })) }
  }

  /** The signature that lets the bearer read a file until then. */
  const sign = (name: string, expiresAt: number) =>
    Buffer.from(keyedHash(masterKey, 'price files', `${name} ${expiresAt}`)).toString('base64url')

  return {
    manifest,
    /** Where a file of the manifest lies. */
    pathOf: ({ kind, name }: PriceFile) => join(directory, kind, name),
    /** Rebuilds files; unchanged ones are kept. */
    async make(
      contents: readonly FileContent[],
      read: (content: FileContent) => Promise<FileRows>,
    ): Promise<Manifest> {
      const before = await manifest()
      const files: PriceFile[] = []
      for (const { kind, of } of contents) {
        const folder = join(directory, kind)
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const name = `${of}.parquet`
        const { rows, pieces } = await read({ kind, of })
        const partial = join(folder, `${name}.partial`)
        const { bytes, sha256 } = await written(partial, pieces)
        const old = before?.files.find(file => file.name === name && file.kind === kind)
        const isSame = old?.sha256 === sha256
        if (isSame) await rm(partial)
        else await rename(partial, join(folder, name))
        const changedAt = isSame ? old.changedAt : now()
        files.push({ kind, name, bytes, rows, sha256, changedAt })
      }
      const newManifest = { madeAt: now(), files }
      const path = join(directory, manifestName)
      await written(`${path}.partial`, once(Buffer.from(JSON.stringify(newManifest, undefined, 2))))
      await rename(`${path}.partial`, path)
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
      await file.write(piece)
      bytes += piece.byteLength
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}

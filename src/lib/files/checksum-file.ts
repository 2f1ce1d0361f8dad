import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { writeSideFile } from './side-file.ts'

const chunkBytes = 2 ** 20

/** The file with the checksum of a file, in the form that `sha256sum -c` reads. */
export const checksumPath = (path: string): string => `${path}.sha256`

function sha256Of(path: string): string {
  const hasher = new Bun.CryptoHasher('sha256')
  const chunk = Buffer.alloc(chunkBytes)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk))
      hasher.update(chunk.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hasher.digest('hex')
}

/** Writes the checksum of a file next to it, for a file that gets this name. */
export const writeChecksum = (path: string, name = basename(path)): void =>
  writeSideFile(checksumPath(path), `${sha256Of(path)}  ${name}\n`)

/** How a file differs from the checksum next to it; undefined where it does not, or has none. */
export function checksumFault(path: string): string | undefined {
  const beside = checksumPath(path)
  if (!existsSync(beside)) return undefined
  const [, expected] = /^\\?([0-9a-f]{64}) [ *]/i.exec(readFileSync(beside, 'utf8')) ?? []
  if (expected === undefined) return `${beside} is not a SHA-256 checksum`
  const actual = sha256Of(path)
  return actual === expected.toLowerCase()
    ? undefined
    : `its SHA-256 checksum is ${actual}, and ${beside} has ${expected}`
}

import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeWhole } from '../../../../lib/files/write-whole.ts'

/** A whole export, of which parts can be sent. */
export interface FinishedExport {
  size: number
  /** The bytes of `[from, to)`. */
  read(from: number, to: number): Uint8Array<ArrayBuffer>
}

/** Clients resume within minutes; no more files than these are kept open. */
const keptMax = 4

/**
 * Keeps the newest of them in files without a name, which are gone with the process. The same
 * export gives the same bytes, so a file can be made when its first part is requested.
 */
export function createFinishedExports() {
  const files = new Map<string, Promise<FinishedExport & { fd: number }>>()

  const write = async (make: () => Promise<Iterable<Uint8Array>>) => {
    const dir = mkdtempSync(join(tmpdir(), 'wellhead-export-'))
    const fd = openSync(join(dir, 'file'), 'w+', 0o600)
    rmSync(dir, { recursive: true })
    let size = 0
    try {
      for (const piece of await make()) {
        writeWhole(fd, piece)
        size += piece.length
      }
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return {
      fd,
      size,
      read(from: number, to: number) {
        const bytes = new Uint8Array(Math.max(0, Math.min(to, size) - from))
        readSync(fd, bytes, 0, bytes.length, from)
        return bytes
      },
    }
  }

  const drop = (etag: string) => {
    const file = files.get(etag)
    files.delete(etag)
    void file?.then(({ fd }) => closeSync(fd)).catch(() => undefined)
  }

  return {
    async of(etag: string, make: () => Promise<Iterable<Uint8Array>>): Promise<FinishedExport> {
      const file = files.get(etag) ?? write(make)
      files.delete(etag)
      files.set(etag, file)
      file.catch(() => files.delete(etag))
      for (const oldest of [...files.keys()].slice(0, -keptMax)) drop(oldest)
      return await file
    },
    close() {
      for (const etag of [...files.keys()]) drop(etag)
    },
  }
}

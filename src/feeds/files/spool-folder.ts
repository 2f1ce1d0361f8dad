import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeWhole } from '../../lib/files/write-whole.ts'

/** Bytes that wait on the disk: added at the end, read from any place. */
export type SpoolFile = ReturnType<typeof spoolFile>

function spoolFile(file: number) {
  let size = 0
  return {
    size: () => size,
    append(bytes: Uint8Array) {
      writeWhole(file, bytes, size)
      size += bytes.length
    },
    /** Fills `into` with the bytes from a position on. */
    read(into: Uint8Array, position: number) {
      for (let done = 0; done < into.length; ) {
        const count = readSync(file, into, done, into.length - done, position + done)
        if (count === 0) throw new Error('the file of an import was cut short')
        done += count
      }
    },
  }
}

/** Temporary files between the reading and the writing of an import; created on first use. */
export type SpoolFolder = ReturnType<typeof createSpoolFolder>

export function createSpoolFolder(directory: string) {
  let folder: string | undefined
  let count = 0
  const opened: number[] = []
  const path = (name: string) => {
    folder ??= mkdtempSync(join(directory, 'wellhead-import-'))
    count += 1
    return join(folder, `${count}-${name}`)
  }
  return {
    /** A path that no other file has yet. */
    path,
    /**
     * Opens a file without a name, for reading and writing: nothing is left of it when this process
     * ends, however it ends.
     */
    openUnnamed() {
      const folder = mkdtempSync(join(directory, 'wellhead-import-'))
      const file = openSync(join(folder, 'spool'), 'wx+', 0o600)
      rmSync(folder, { recursive: true })
      opened.push(file)
      return spoolFile(file)
    },
    close() {
      for (const file of opened.splice(0)) closeSync(file)
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      folder = undefined
    },
  }
}

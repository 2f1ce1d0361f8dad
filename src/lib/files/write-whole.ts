import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/**
 * Writes all bytes to an open file, from a position on or at its own. One call of the system may
 * write a part of them without an error: on a disk that fills up, what is left of it.
 */
export function writeWhole(file: number, bytes: Uint8Array, position?: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(
      file,
      bytes,
      done,
      bytes.length - done,
      position === undefined ? null : position + done,
    )
}

/** The same without blocking, at the end of what was written. */
export async function appendWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten
}

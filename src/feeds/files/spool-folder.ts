import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Files for what waits between the reading and the writing of an import; none is made before it is used. */
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
    /** A path that no other file has. */
    path,
    /**
     * Opens a file without a name, for reading and writing: nothing is left of it when this process
     * ends, however it ends.
     */
    openUnnamed() {
      const name = path('spool')
      const file = openSync(name, 'wx+', 0o600)
      unlinkSync(name)
      opened.push(file)
      return file
    },
    close() {
      for (const file of opened.splice(0)) closeSync(file)
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      folder = undefined
    },
  }
}

import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from '../../../plans/source-config.ts'

/**
 * Files below the operator's directory. A fault is a sentence that names no path of this machine.
 */
export type SourceFiles = ReturnType<typeof createSourceFiles>

/** `directory` is empty where the operator has named none. */
export const createSourceFiles = (directory: string) => ({
  async read(path: string, bytesMax: number): Promise<{ bytes: Buffer } | { fault: string }> {
    if (directory === '')
      return { fault: 'this service has no directory for files (data_sources.directory)' }
    if (!isInside(path)) return { fault: 'scraper_config.path leaves the directory for files' }
    try {
      const root = await realpath(directory)
      const fullPath = join(root, path)
      // A link anywhere in the path leads somewhere else, even where it leads back.
      if ((await realpath(fullPath)) !== fullPath)
        return { fault: 'scraper_config.path goes over a symbolic link, which is not followed' }
      // Opened without waiting: a pipe would wait for its writer.
      const file = await open(
        fullPath,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      )
      try {
        const { size, isFile } = await file
          .stat()
          .then(stats => ({ size: stats.size, isFile: stats.isFile() }))
        if (!isFile) return { fault: 'scraper_config.path is not a file' }
        if (size > bytesMax) return { fault: `the file is longer than ${bytesMax / 2 ** 20} MB` }
        const bytes = Buffer.alloc(size)
        const { bytesRead } = await file.read(bytes, 0, size, 0)
        return { bytes: bytes.subarray(0, bytesRead) }
      } finally {
        await file.close()
      }
    } catch (error) {
      return {
        fault: faults[(error as NodeJS.ErrnoException).code ?? ''] ?? 'the file cannot be read',
      }
    }
  },
})

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file in the directory for files',
  ENOTDIR: 'there is no such file in the directory for files',
  ELOOP: 'scraper_config.path goes over a symbolic link, which is not followed',
  EACCES: 'this service may not read the file',
}

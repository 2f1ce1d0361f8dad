import { appendFile, copyFile, rename, rm } from 'node:fs/promises'
import { quoted } from './csv.ts'
import type { SpoolFolder } from './spool-folder.ts'

/** The format of rejected lines; `header` has the names of the file's columns. */
export type RejectedFormat =
  | { format: 'csv'; separator: string; header: string }
  | { format: 'ndjson' }

/**
 * The rejected lines of a file, written so that the result can be corrected and imported: two more
 * columns, `line` (in the original file) and `reason`, precede the original ones. CSV keeps each
 * line as it was, with the file's own separator; NDJSON gets the two as first members, and a line
 * that is not an object becomes the text `row`.
 */
export function createRejectedLines(format: RejectedFormat, folder: Pick<SpoolFolder, 'path'>) {
  let waiting = ''
  let spool: string | undefined
  let fault: string | undefined
  const attempt = async (work: () => Promise<void>) => {
    if (fault !== undefined) return
    try {
      await work()
    } catch (error) {
      fault = (error as Error).message
    }
  }
  const flush = () =>
    attempt(async () => {
      if (waiting === '') return
      const text = waiting
      waiting = ''
      spool ??= folder.path('rejected')
      await appendFile(spool, text)
    })
  return {
    add(line: number, reason: string, text: string) {
      if (fault !== undefined) return
      if (format.format === 'ndjson') waiting += jsonLine(line, reason, text)
      else {
        if (waiting === '' && spool === undefined) waiting = csvHeader(format)
        waiting += csvLine(format.separator, line, reason, text)
      }
    },
    /** Writes pending lines to disk; called between blocks, so that few of them are in memory. */
    flush,
    /**
     * Writes all lines to a file. Without any, an old file of the same name is removed, because it
     * is about an earlier import. Returns why nothing could be written, if so: the import itself
     * continues.
     */
    async writeTo(path: string) {
      await flush()
      await attempt(async () => {
        await rm(path, { force: true })
        if (spool === undefined) return
        const partial = `${path}.partial`
        try {
          await copyFile(spool, partial)
          await rename(partial, path)
        } finally {
          await rm(partial, { force: true })
        }
      })
      return fault
    },
  }
}

const csvHeader = ({ separator, header }: { separator: string; header: string }) =>
  `line${separator}reason${separator}${header}\n`

const csvLine = (separator: string, line: number, reason: string, text: string) =>
  `${line}${separator}${quoted(reason)}${separator}${text}\n`

function jsonLine(line: number, reason: string, text: string): string {
  const object = /^\s*\{\s*(\}?)/.exec(text)
  const head = `{"line":${line},"reason":${JSON.stringify(reason)}`
  if (!object || !isJson(text)) return `${head},"row":${JSON.stringify(text)}}\n`
  return `${head}${object[1] ? '}' : `,${text.slice(object[0].length)}`}\n`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

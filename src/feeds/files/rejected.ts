import { type FileHandle, open, rm } from 'node:fs/promises'
import { quoted } from './csv.ts'

/**
 * The lines of a file that did not go in, in a file that can be corrected and imported itself: the
 * original columns behind two more, `line` (in the original file) and `reason`. CSV keeps each line
 * as it was, with the file's own separator; NDJSON gets the two as first members, and a line that
 * is no object becomes the text `row`.
 */
export interface RejectedFile {
  add(line: number, reason: string, text: string): void
  /** Writes what was added; called between blocks, so that little of it is ever in memory. */
  flush(): Promise<void>
  close(): Promise<void>
  /** Why nothing could be written, if so: the import itself goes on. */
  fault(): string | undefined
}

/** How rejected lines are written; `header` has the names of the file's columns. */
export type RejectedForm =
  | { format: 'csv'; separator: string; header: string }
  | { format: 'ndjson' }

/** An old file of the same name is removed at once: what it says is not about this import. */
export async function rejectedFile(path: string, form: RejectedForm): Promise<RejectedFile> {
  let waiting = ''
  let handle: FileHandle | undefined
  let fault: string | undefined
  await rm(path, { force: true }).catch((error: Error) => {
    fault = error.message
  })
  const flush = async () => {
    if (waiting === '' || fault !== undefined) return
    const text = waiting
    waiting = ''
    try {
      handle ??= await open(path, 'w')
      await handle.writeFile(text)
    } catch (error) {
      fault = (error as Error).message
    }
  }
  return {
    add(line, reason, text) {
      if (fault !== undefined) return
      if (form.format === 'ndjson') waiting += jsonLine(line, reason, text)
      else {
        if (waiting === '' && !handle) waiting = csvHeader(form)
        waiting += csvLine(form.separator, line, reason, text)
      }
    },
    flush,
    async close() {
      await flush()
      await handle?.close()
    },
    fault: () => fault,
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

import type { SpoolFile, SpoolFolder } from './spool-folder.ts'

/** Stores JSON values in order; beyond some thousands of records on disk. */
export interface RecordSpool<Record> {
  add(record: Record): void
  records(): Generator<Record>
}

const waitingMax = 5_000
const readBytes = 256 * 1024
const lineFeed = 10

export function createRecordSpool<Record>(
  folder: Pick<SpoolFolder, 'openUnnamed'>,
): RecordSpool<Record> {
  let waiting: Record[] = []
  let file: SpoolFile | undefined
  return {
    add(record) {
      waiting.push(record)
      if (waiting.length < waitingMax) return
      file ??= folder.openUnnamed()
      file.append(Buffer.from(`${waiting.map(record => JSON.stringify(record)).join('\n')}\n`))
      waiting = []
    },
    *records() {
      let rest: Buffer = Buffer.alloc(0)
      const size = file?.size() ?? 0
      for (let at = 0; at < size; at += readBytes) {
        const chunk = Buffer.alloc(Math.min(readBytes, size - at))
        file!.read(chunk, at)
        const bytes = Buffer.concat([rest, chunk])
        const end = bytes.lastIndexOf(lineFeed) + 1
        rest = bytes.subarray(end)
        if (end === 0) continue
        for (const line of bytes.toString('utf8', 0, end - 1).split('\n'))
          yield JSON.parse(line) as Record
      }
      yield* waiting
    },
  }
}

import { readSync, writeSync } from 'node:fs'
import type { SpoolFolder } from './spool-folder.ts'

/** Keeps what JSON can say in its order; beyond some thousands of records on the disk. */
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
  let file: number | undefined
  let size = 0
  return {
    add(record) {
      waiting.push(record)
      if (waiting.length < waitingMax) return
      file ??= folder.openUnnamed()
      const lines = Buffer.from(`${waiting.map(one => JSON.stringify(one)).join('\n')}\n`)
      for (let done = 0; done < lines.length; )
        done += writeSync(file, lines, done, lines.length - done, size + done)
      size += lines.length
      waiting = []
    },
    *records() {
      let rest: Buffer = Buffer.alloc(0)
      for (let at = 0; at < size; ) {
        const chunk = Buffer.alloc(Math.min(readBytes, size - at))
        const count = readSync(file!, chunk, 0, chunk.length, at)
        if (count === 0) throw new Error('the file of an import was cut short')
        at += count
        const bytes = Buffer.concat([rest, chunk.subarray(0, count)])
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

/**
 * A position in the feed of changes. Records are ordered by the instant of their transaction, then
 * by the rank of their series in the transaction, then by the time of the value and of its
 * recording.
 */
export interface Place {
  writtenAt: number
  /** Position of the series among those of the transaction, by code. */
  rank: number
  observedAt: number
  recordedAt: number
}

/** A place, and the line of the feed that its record is of. */
export interface Cursor extends Place {
  line: string
}

/** Characters of the name of a line. */
export const lineLength = 6

const instantDigits = 9
const rankDigits = 4
/** Times are written as numbers that are never negative: 36^9 is beyond twice this. */
const offset = 36 ** instantDigits / 2
const rankMax = 36 ** rankDigits - 1
const restMax = Number.POSITIVE_INFINITY

/** The place after the last record of a transaction. */
export const endOf = (writtenAt: number): Place => ({
  writtenAt,
  rank: rankMax,
  observedAt: restMax,
  recordedAt: restMax,
})

/** The place before every record. */
export const beginning: Place = endOf(-offset)

export function isBefore(a: Place, b: Place): boolean {
  if (a.writtenAt !== b.writtenAt) return a.writtenAt < b.writtenAt
  if (a.rank !== b.rank) return a.rank < b.rank
  if (a.observedAt !== b.observedAt) return a.observedAt < b.observedAt
  return a.recordedAt < b.recordedAt
}

const digitsOf = (value: number, digits: number) => value.toString(36).padStart(digits, '0')
const instantOf = (value: number) => digitsOf(value + offset, instantDigits)

/** The text of a cursor: its order as bytes is the order of places. */
export function cursorText({ writtenAt, rank, observedAt, recordedAt, line }: Cursor): string {
  const head = instantOf(writtenAt) + digitsOf(rank, rankDigits)
  const rest = rank === rankMax ? '' : instantOf(observedAt) + instantOf(recordedAt)
  return head + rest + line
}

const pattern = new RegExp(
  `^([0-9a-z]{${instantDigits}})([0-9a-z]{${rankDigits}})(?:([0-9a-z]{${instantDigits}})([0-9a-z]{${instantDigits}}))?([0-9a-z]{${lineLength}})$`,
)

/** Undefined for a text that is not a cursor. */
export function parseCursor(text: string): Cursor | undefined {
  const [, written, rank, observed, recorded, line] = pattern.exec(text) ?? []
  if (written === undefined || rank === undefined || line === undefined) return undefined
  const number = (digits: string) => Number.parseInt(digits, 36)
  const isEnd = number(rank) === rankMax
  if (isEnd !== (observed === undefined)) return undefined
  const writtenAt = number(written) - offset
  if (observed === undefined || recorded === undefined) return { ...endOf(writtenAt), line }
  return {
    writtenAt,
    rank: number(rank),
    observedAt: number(observed) - offset,
    recordedAt: number(recorded) - offset,
    line,
  }
}

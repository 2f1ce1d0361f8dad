/** A line of the log, with its place in what this process has written. */
export interface NumberedLine {
  /** Rises by one from line to line; the first is 1. */
  number: number
  line: string
}

/** The newest lines that this process has logged. */
export type LogTail = ReturnType<typeof createLogTail>

/** Keeps at most `linesMax` lines, each cut after `charactersMax` characters. */
export function createLogTail(linesMax = 1000, charactersMax = 4000) {
  const lines: string[] = []
  let last = 0
  return {
    /** Adds a line; it replaces the oldest one. */
    add(line: string) {
      const text = line.trimEnd()
      last += 1
      lines[(last - 1) % linesMax] =
        text.length > charactersMax ? `${text.slice(0, charactersMax).toWellFormed()}…` : text
    },
    /** Those after a number, oldest first, at most the `limit` newest of them. */
    after(number: number, limit: number) {
      const first = Math.max(number + 1, last - Math.min(limit, lines.length) + 1)
      const rows: NumberedLine[] = []
      for (let at = first; at <= last; at += 1)
        rows.push({ number: at, line: lines[(at - 1) % linesMax]! })
      return rows
    },
    /** Number of the newest line; 0: there is none. */
    get last() {
      return last
    },
  }
}

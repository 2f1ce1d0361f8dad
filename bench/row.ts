/** One line of the table. */
export interface Line {
  row: string
  ours: string
  yardstick: string
  /** Ours over the yardstick; undefined where the bar is an absolute number. */
  ratio: number | undefined
  /** The bar: for `ratio`, or in words. */
  atLeast: string
  /** Whether the bar is met; undefined for lines that have none. */
  met: boolean | undefined
}

export interface BenchOptions {
  /** Points of the large database. */
  points: number
  /** Well permits of the register that is searched. */
  permits: number
  /** How long one measurement of a server lasts. */
  seconds: number
  rounds: number
  /** A directory for everything that is made. */
  dir: string
  /** Reports the progress on standard error. */
  say(text: string): void
}

/** One row of the table in design.md; it may come to several lines. */
export type Row = (options: BenchOptions) => Promise<Line[]>

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en-US')}/s`

/** A line whose bar is a least ratio. */
export function ratioLine(
  row: string,
  { ours, theirs, ratio }: { ours: number; theirs: number; ratio: number },
  atLeast: number,
): Line {
  return {
    row,
    ours: perSecond(ours),
    yardstick: perSecond(theirs),
    ratio,
    atLeast: atLeast.toFixed(2),
    met: ratio >= atLeast,
  }
}

/** A line that is there to be read: nothing is demanded of it. */
export function plainLine(
  row: string,
  { ours, theirs, ratio }: { ours: number; theirs: number; ratio: number },
): Line {
  return {
    row,
    ours: perSecond(ours),
    yardstick: perSecond(theirs),
    ratio,
    atLeast: '-',
    met: undefined,
  }
}

export function table(lines: readonly Line[]): string {
  const rows = lines.map(({ row, ours, yardstick, ratio, atLeast, met }) => [
    row,
    ours,
    yardstick,
    ratio === undefined ? '' : ratio.toFixed(2),
    atLeast,
    met === undefined ? '' : met ? 'yes' : 'no',
  ])
  const all = [['row', 'ours', 'yardstick', 'ratio', 'bar', 'met'], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map(cells => cells[column]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`
  return [
    line(all[0]!),
    line(widths.map(width => '-'.repeat(width))),
    ...all.slice(1).map(line),
  ].join('\n')
}

import type { GuardedDataset, GuardedNumbers } from '../../datasets/dataset.ts'
import { parseDay } from '../../lib/time/instant.ts'
import type { DatasetLines, DatasetRow } from '../../topics/operator/store/dataset-rows.ts'
import {
  type Flag,
  followSeries,
  type GuardRule,
  type GuardState,
  type GuardTerms,
} from '../../topics/prices/math/guards.ts'
import type { FlaggedValueStore } from '../../topics/prices/store/flagged-values.ts'
import type { Dataset } from './dataset.ts'

/** A row that is fit to be written, as it was sent and as it was read. */
export interface JudgedRow {
  fields: Readonly<Record<string, unknown>>
  record: unknown
  recordedAt: number
}

/** A row of which a number is flagged. */
export interface FlaggedRow {
  numbers: GuardedNumbers
  fields: Readonly<Record<string, unknown>>
  observedAt: number
  column: string
  value: number
  before: number | undefined
  rule: GuardRule
  reason: string
  isHeld: boolean
}

/** The guards at the door of datasets: one set for files, pushes and feeds. */
export type RowGuards = ReturnType<typeof createRowGuards>

export interface RowGuardDeps {
  lines: DatasetLines
  flags: Pick<FlaggedValueStore, 'addRow' | 'ofLine'>
  settings: { get(name: string): string | undefined; set(name: string, value: string): void }
  codeOf(seriesId: number): string
  now(): number
}

/** The number of earlier rows that the usual movement of a line is computed from. */
const learntRows = 250
/** The assumed annual volatility of a line, until it has shown its own. */
const usualVolatility = 0.35

/** A number of a record, on its way through the guards. */
interface Entry {
  row: JudgedRow
  numbers: GuardedNumbers
  at: number
}

interface EntryFlag extends Flag {
  column: string
  value: number
  before: number | undefined
}

const settingOf = (dataset: string) => `guards.${dataset}`
const textOf = (numbers: GuardedNumbers) => ({
  line: JSON.stringify(numbers.line),
  values: JSON.stringify(numbers.values),
})

/** Days, months and instants in ms, as rows are read again. */
const momentOf = (time: string | number): number =>
  typeof time === 'number' ? time : parseDay(time.length === 7 ? `${time}-01` : time)!

export function createRowGuards({ lines, flags, settings, codeOf, now }: RowGuardDeps) {
  const terms = (dataset: string): GuardTerms =>
    JSON.parse(settings.get(settingOf(dataset)) ?? '{}') as GuardTerms

  /** Checks one line of a dataset, in order of time, and reports the flags of each row. */
  const flagsOfLine = (
    dataset: string,
    guarded: GuardedDataset,
    entries: readonly Entry[],
    judged: (entry: Entry, flag: EntryFlag | undefined, isHeld: boolean) => void,
  ): void => {
    const { numbers: first } = entries[0]!
    const guardedLine = { dataset, line: first.line, time: guarded.time }
    const stored = lines.between(guardedLine, first.time, entries.at(-1)!.numbers.time)
    const states = createStates(
      guarded,
      terms(dataset),
      lines.before(guardedLine, first.time, learntRows),
    )
    const decided = new Map(
      flags
        .ofLine(dataset, textOf(first).line)
        .map(({ observedAt, numbers, status }) => [`${observedAt} ${numbers}`, status]),
    )
    const brought = new Set(entries.map(entry => entry.at))
    let next = 0
    let before: Entry | undefined
    for (const entry of entries) {
      const { at } = entry
      const { values } = entry.numbers
      let same: DatasetRow | undefined
      for (; next < stored.length; next += 1) {
        const row = stored[next]!
        const storedAt = momentOf(row[guarded.time]!)
        if (storedAt > at) break
        if (storedAt === at) same = row
        else if (!brought.has(storedAt)) states.take(storedAt, row)
      }
      const isKnown =
        same !== undefined &&
        Object.entries(values).every(([column, value]) => same[column] === value)
      // One time may have several vintages.
      const isVintage = before?.at === at && before.row.recordedAt !== entry.row.recordedAt
      before = entry
      const all = isKnown
        ? []
        : states.judge(at, values, now()).filter(flag => !(isVintage && flag.rule === 'same_day'))
      const holdingFlags = all.filter(flag => flag.action === 'hold')
      const status = decided.get(`${at} ${textOf(entry.numbers).values}`)
      // A value that waits for review or was rejected stays excluded when it is sent again.
      const isRefused = !isKnown && (status === 'waiting' || status === 'rejected')
      const isHeld = isRefused || (holdingFlags.length > 0 && status !== 'released')
      if (!isHeld) states.take(at, values)
      else for (const { column, value } of holdingFlags) states.hold(column, at, value)
      judged(entry, holdingFlags[0] ?? all[0], isHeld)
    }
  }

  const judge = <Row extends JudgedRow>(
    { name, guarded }: Dataset<unknown>,
    rows: readonly Row[],
  ): { good: readonly Row[]; flagged: FlaggedRow[] } => {
    if (!guarded || rows.length === 0) return { good: rows, flagged: [] }
    const entries = rows.flatMap(row =>
      guarded
        .numbersOf(row.record, codeOf)
        .map((numbers): Entry => ({ row, numbers, at: momentOf(numbers.time) })),
    )
    const flagged: FlaggedRow[] = []
    const heldRows = new Set<JudgedRow>()
    for (const group of Map.groupBy(entries, ({ numbers }) => textOf(numbers).line).values()) {
      const ordered = group.toSorted((a, b) => a.at - b.at)
      flagsOfLine(name, guarded, ordered, ({ row, numbers, at }, flag, isHeld) => {
        if (isHeld) heldRows.add(row)
        if (!flag) return
        const { column, value, before, rule, reason } = flag
        flagged.push({
          numbers,
          fields: row.fields,
          observedAt: at,
          column,
          value,
          before,
          rule,
          reason: `${column}: ${reason}`,
          isHeld,
        })
      })
    }
    return { good: heldRows.size === 0 ? rows : rows.filter(row => !heldRows.has(row)), flagged }
  }

  return {
    /** Decides which rows may be written, and flags rows. Nothing is written. */
    judge,
    /** The operator's action for each rule; absent rules have the default. */
    terms,
    /** Stores flags, inside the transaction that writes the accepted rows. */
    keep(dataset: string, flagged: readonly FlaggedRow[], batchId: number, flaggedAt: number) {
      for (const { numbers, fields, isHeld, before, ...flag } of flagged)
        flags.addRow({
          ...flag,
          dataset,
          line: textOf(numbers).line,
          numbers: textOf(numbers).values,
          fields: JSON.stringify(fields),
          before: before ?? null,
          sourceId: 0,
          batchId,
          status: isHeld ? 'waiting' : 'flagged',
          flaggedAt,
        })
    },
    setTerms: (dataset: string, wanted: GuardTerms) =>
      void settings.set(settingOf(dataset), JSON.stringify(wanted)),
  }
}

/** The columns of a line, each followed as a series is. */
function createStates(
  { columns, time }: GuardedDataset,
  terms: GuardTerms,
  known: readonly DatasetRow[],
) {
  const moments = known.map(row => momentOf(row[time]!))
  const states = new Map<string, GuardState>()
  for (const [column, { leastMove, mayRepeat, mayCross }] of Object.entries(columns)) {
    const guards: GuardTerms = {
      // Rows that come before their time are refused, or announced.
      future: 'off',
      ...(mayRepeat && { repeat: 'off' }),
      ...(mayCross && { zero: 'off', sign: 'off' }),
      ...terms,
    }
    const values = known.flatMap((row, i) => {
      const value = row[column]
      return typeof value === 'number' ? [{ observedAt: moments[i]!, value }] : []
    })
    const series = { volatility: usualVolatility, guards, ...(leastMove && { leastMove }) }
    states.set(column, followSeries(series, values))
  }
  return {
    take(at: number, values: Readonly<Record<string, unknown>>) {
      for (const [column, state] of states) {
        const value = values[column]
        if (typeof value === 'number') state.take(at, value)
      }
    },
    hold: (column: string, at: number, value: number) => states.get(column)!.hold(at, value),
    judge: (
      at: number,
      values: Readonly<Record<string, number | null>>,
      now: number,
    ): EntryFlag[] =>
      [...states].flatMap(([column, state]) => {
        const value = values[column]
        if (typeof value !== 'number') return []
        const before = state.last?.value
        return state
          .judge(at, value, state.last, now)
          .map(flag => ({ ...flag, column, value, before }))
      }),
  }
}

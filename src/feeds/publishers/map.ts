import { type PeriodKind, periodKinds } from '../reading/periods.ts'

/** Where an entry of a map leads: to a series of the catalogue, or to a column of a dataset's rows. */
export type Target =
  | { code: string }
  | { dataset: string; column: string; fixed: Readonly<Record<string, string>> }

/** A series of a publisher, and where its values are stored. */
export interface MapEntry {
  /** The publisher's name of it. */
  sourceId: string
  target: Target
  /** The required unit, in the publisher's spelling; empty where the publisher sends none. */
  unit: string
  /** How many units of the target one of the publisher's is. */
  factor: string
  kind: PeriodKind
  /** Where its publisher has it: a route, a sheet, a file. */
  at: string
  note: string
}

const columns = ['source_id', 'into', 'unit', 'factor', 'period', 'at', 'note'] as const

/**
 * Parses the entries of a map, a line each: tab-separated, with a header. `into` is a code (`WTI_USD`), or a
 * dataset with a column and fixed values of its rows (`rig-counts total region=US`); `period` is
 * day, week, month, quarter or year. Throws for an invalid line: maps are part of the program.
 */
export function mapOf(name: string, text: string): MapEntry[] {
  const [header, ...rows] = text.replace(/\n+$/, '').split('\n')
  if (header !== columns.join('\t'))
    throw new Error(`map ${name}: the columns are ${columns.join(', ')}`)
  const entries = rows.map((row, i) => entryOf(row.split('\t'), `map ${name}, line ${i + 2}`))
  const seen = new Set<string>()
  for (const { sourceId, target } of entries) {
    const id = `${sourceId} ${JSON.stringify(target)}`
    if (seen.has(id)) throw new Error(`map ${name}: ${sourceId} leads to one target twice`)
    seen.add(id)
  }
  return entries
}

function entryOf(cells: readonly string[], where: string): MapEntry {
  const [sourceId = '', into = '', unit = '', factor = '', period = '', at = '', note = ''] = cells
  const kind = periodKinds.find(kind => kind === period)
  if (cells.length !== columns.length || sourceId === '' || into === '' || !kind) {
    throw new Error(`${where}: write ${columns.join(', ')}`)
  }
  if (!/^\d+(\.\d+)?$/.test(factor)) throw new Error(`${where}: factor ${factor} is not a decimal`)
  return { sourceId, target: targetOf(into, where), unit, factor, kind, at, note }
}

function targetOf(into: string, where: string): Target {
  if (/^[A-Z0-9_]+$/.test(into)) return { code: into }
  const [dataset = '', column = '', ...rest] = into.split(' ')
  // Values of fixed columns may contain spaces: `country=Saudi Arabia; unit=tbpd`.
  const fixed = rest
    .join(' ')
    .split(';')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => part.split('=') as [string, string | undefined])
  if (!/^[a-z-]+$/.test(dataset) || !/^[a-z_]+$/.test(column) || fixed.some(([, is]) => !is)) {
    throw new Error(`${where}: ${into} must be a code, or a dataset with its column`)
  }
  return { dataset, column, fixed: Object.fromEntries(fixed as [string, string][]) }
}

/** The codes and datasets that no feed provides. */
export function unreadOf(codes: readonly string[], map: readonly MapEntry[]): string[] {
  const targets = new Set(map.map(targetName))
  return codes.filter(code => !targets.has(code))
}

export const targetName = ({ target }: MapEntry): string =>
  'code' in target ? target.code : target.dataset

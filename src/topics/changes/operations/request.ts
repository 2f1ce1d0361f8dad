import { scopeOfDataset } from '../../../database/datasets.ts'
import type { Declared } from '../../../datasets/dataset.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { boolOf, instantOf, listOf } from '../../../http/input/query.ts'
import { codesParameter, flagParameter, textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, missingParameter, Problem } from '../../../http/problem/problem.ts'
import { featureMissing, hasScope, scopeMissing } from '../../../http/problem/refusals.ts'
import { tierOf } from '../../../plans/plans.ts'
import { isComputed, type Series } from '../../catalogue/store/series.ts'
import { cursorText, type Place, parseCursor } from '../math/cursor.ts'
import type { ChangeReader } from '../service/feed.ts'
import { datasetOfTable } from '../store/dataset-versions.ts'

export type ChangeDeps = Pick<
  Context,
  'catalogue' | 'changes' | 'codes' | 'firstCodes' | 'links' | 'plans' | 'sourceNameOf'
>

export type ChangeQuery = Readonly<Record<string, string | undefined>>

export const codesMax = 200
/** So many records count as the plan's `export_requests_per_10k_rows` requests. */
export const rowsOfPrice = 10_000

/** Parameters of every reading of the feed. */
export const readerQuery = {
  codes: codesParameter(
    codesMax,
    `1 to ${codesMax} codes or aliases, comma-separated. Default: every code.`,
    'WTI_USD,BRENT_CRUDE_USD',
  ),
  dataset: textParameter(
    'Datasets, comma-separated: `prices`, names of datasets such as `rig-counts`, or `*` for all that the plan and the scopes of the key include. Default: `prices`.',
    'prices',
  ),
  derived: flagParameter(
    '`true`: also values of series by formula, and daily means of codes such as `POWER_DE_EUR`; those of the codes in `codes` are always returned.',
    true,
  ),
}

export const sinceParameter = textParameter(
  'Records after this cursor; `start`: from the first record; `now`: no records, only the newest cursor; an ISO 8601 time: from the first record that was written after it.',
  'start',
  { required: true },
)

const prices = 'prices'
const byName = new Map([...datasetOfTable.values()].map(declared => [declared.name, declared]))

/** Whether a request reads prices, and the tables of the other datasets that it reads. */
function datasetsOf(
  { plans, links }: ChangeDeps,
  text: string | undefined,
  { key, entitled }: Caller,
  request: Request,
  isSlice: boolean,
) {
  const names = listOf(text)
  const unknown = names.find(name => name !== '*' && name !== prices && !byName.has(name))
  if (unknown !== undefined) throw invalidParameter('dataset', unknown, [prices, ...byName.keys()])
  const isAll = names.includes('*')
  const isIncluded = ({ feature }: Declared) =>
    !isSlice && (feature === undefined || entitled.features.has(feature))
  const isInScope = ({ name }: Declared) => hasScope(key, scopeOfDataset(name))
  const wanted = isAll
    ? [...byName.values()].filter(declared => isIncluded(declared) && isInScope(declared))
    : names.flatMap(name => byName.get(name) ?? [])
  const missing = wanted.find(declared => !isIncluded(declared))
  if (missing)
    throw featureMissing(
      plans,
      links(request),
      entitled,
      isSlice ? 'bulk_export' : missing.feature!,
    )
  const outOfScope = wanted.find(declared => !isInScope(declared))
  if (outOfScope)
    throw scopeMissing(key, scopeOfDataset(outOfScope.name), `the dataset ${outOfScope.name}`)
  return {
    hasPrices: isAll || names.length === 0 || names.includes(prices),
    tables: new Set(wanted.map(({ recordTable }) => recordTable!.name)),
  }
}

/** The filter of a request's records: those its account may see, of the codes that it names. */
export function readerOf(
  deps: ChangeDeps,
  query: ChangeQuery,
  caller: Caller,
  request: Request,
): ChangeReader {
  const { catalogue, codes, firstCodes, links, plans } = deps
  const { key, entitled } = caller
  // Earlier visibility of a code also counts where every code is visible to everyone now.
  const viewer = { accounts: [key.account.account.id, key.holder.account.id] }
  const names = listOf(query.codes)
  const isDerived = boolOf('derived', query.derived, false)
  const isSlice = tierOf(plans, entitled.tier).access.bulk_export === 'allowance'
  const { hasPrices, tables } = datasetsOf(deps, query.dataset, caller, request, isSlice)
  const slice = new Set(firstCodes.flatMap(code => catalogue.named(code)?.id ?? []))
  const isAll = names.length === 0 || (names.length === 1 && names[0] === '*')
  const named = isAll
    ? undefined
    : codes.read(names, request, codesMax).map(resolved => resolved.series)
  const beyond = isSlice ? named?.find(({ id }) => !slice.has(id)) : undefined
  if (beyond)
    throw new Problem(
      'INSUFFICIENT_PLAN',
      `The ${entitled.planName} plan reads changes of ${firstCodes.join(', ')}; ${beyond.code} is not one of them. For more, upgrade: ${links(request).upgradeUrl}`,
      featureMissing(plans, links(request), entitled, 'bulk_export').extra,
    )
  const ids = named ? new Set(named.map(({ id }) => id)) : isSlice ? slice : undefined
  const isWanted = ({ id, contractOf, terms }: Series) =>
    ids ? ids.has(id) : contractOf === null && (isDerived || terms?.formula === undefined)
  return {
    viewer,
    tables,
    isDerived: hasPrices && (named?.some(isComputed) ?? isDerived),
    wants: series => hasPrices && isWanted(series),
  }
}

/** The position in the feed from which a request reads. */
export function placeOf(
  changes: ChangeDeps['changes'],
  name: string,
  text: string | undefined,
): Place {
  if (text === undefined || text === '')
    throw missingParameter(name, 'a cursor, start, now or an ISO 8601 time.')
  if (text === 'start') return changes.start()
  if (text === 'now') return changes.newest()
  const cursor = parseCursor(text)
  if (!cursor) {
    const moment = isTime(text) ? instantOf(name, text) : undefined
    if (moment === undefined)
      throw invalidParameter(name, text, 'a cursor, start, now or an ISO 8601 time')
    return changes.at(moment)
  }
  const gone = changes.goneSince(cursor)
  if (gone)
    throw new Problem(
      'CURSOR_GONE',
      `${name} is a cursor of records that a restored backup does not have. Drop what you recorded after the cursor ${cursorText(gone.fork)} and continue from it, or begin again with since=start.`,
      {
        reason: 'lineage',
        fork: cursorText(gone.fork),
        begin_again: '/v1/changes?since=start',
      },
    )
  return cursor
}

/** A time with dashes; a cursor has none. */
const isTime = (text: string) => /^\d{4}-/.test(text)

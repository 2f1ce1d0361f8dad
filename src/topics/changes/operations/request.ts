import type { Caller } from '../../../http/gate/gate.ts'
import { boolOf, instantOf, listOf } from '../../../http/input/query.ts'
import { codesParameter, flagParameter, textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, missingParameter, Problem } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import { tierOf } from '../../../plans/plans.ts'
import { cursorText, type Place, parseCursor } from '../math/cursor.ts'
import type { ChangeReader } from '../service/feed.ts'

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
    'Datasets, comma-separated: `prices`, or `*` for all. Default: `prices`.',
    'prices',
  ),
  derived: flagParameter(
    '`true`: also values of series by formula; those that `codes` names are always returned.',
    true,
  ),
}

export const sinceParameter = textParameter(
  'Records after this cursor; `start`: from the first record; `now`: no records, only the newest cursor; an ISO 8601 time: from the first record that was written after it.',
  'start',
  { required: true },
)

const datasets = ['prices']

const checkDatasets = (text: string | undefined) => {
  const unknown = listOf(text).find(name => name !== '*' && !datasets.includes(name))
  if (unknown !== undefined) throw invalidParameter('dataset', unknown, datasets)
}

/** The filter of a request's records: those its account may see, of the codes that it names. */
export function readerOf(
  deps: ChangeDeps,
  query: ChangeQuery,
  { key, entitled }: Caller,
  request: Request,
): ChangeReader {
  const { catalogue, codes, firstCodes, links, plans } = deps
  checkDatasets(query.dataset)
  // Earlier visibility of a code also counts where every code is visible to everyone now.
  const viewer = { accounts: [key.account.account.id, key.holder.account.id] }
  const names = listOf(query.codes)
  const isDerived = boolOf('derived', query.derived, false)
  const isSlice = tierOf(plans, entitled.tier).access.bulk_export === 'allowance'
  const slice = new Set(firstCodes.flatMap(code => catalogue.named(code)?.id ?? []))
  if (names.length === 0 || (names.length === 1 && names[0] === '*'))
    return {
      viewer,
      isDerived,
      wants: ({ id, contractOf, terms }) =>
        isSlice
          ? slice.has(id)
          : contractOf === null && (isDerived || terms?.formula === undefined),
    }
  const named = codes.read(names, request, codesMax).map(resolved => resolved.series)
  const beyond = isSlice ? named.find(({ id }) => !slice.has(id)) : undefined
  if (beyond)
    throw new Problem(
      'INSUFFICIENT_PLAN',
      `The ${entitled.planName} plan reads changes of ${firstCodes.join(', ')}; ${beyond.code} is not one of them. For more, upgrade: ${links(request).upgradeUrl}`,
      featureMissing(plans, links(request), entitled, 'bulk_export').extra,
    )
  const ids = new Set(named.map(({ id }) => id))
  const isDerivedNamed = named.some(({ terms }) => terms?.formula !== undefined)
  return { viewer, isDerived: isDerivedNamed, wants: ({ id }) => ids.has(id) }
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

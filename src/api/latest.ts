import { Elysia, t } from 'elysia'
import type { AccessPlugin } from '../http/access.ts'
import type { CodeReader } from '../http/codes.ts'
import { Problem } from '../http/problem.ts'
import { FailProblem, NestedProblem } from '../http/problem-shape.ts'
import { listOf } from '../http/query.ts'
import { serialised } from '../http/serialised.ts'
import type { Board, Rendered } from '../service/board.ts'
import type { Catalogue, Resolved } from '../service/catalogue.ts'
import type { Meter } from '../service/meter.ts'
import { type Answering, envelope, type Marks, markFixtures, tagged } from './answer.ts'
import { PriceRow, priceRow } from './price-row.ts'

export interface LatestDeps {
  access: AccessPlugin
  board: Board
  catalogue: Catalogue
  codes: CodeReader
  meter: Meter
  marks: Marks
  now: () => number
  /** Codes that a list begins with. */
  firstCodes: readonly string[]
}

const One = envelope(PriceRow)
const Several = envelope(t.Object({ prices: t.Array(PriceRow), missing_codes: t.Optional(t.Array(t.String())), count: t.Integer() }))

/** The newest price of one code, of several, or of every code that has one. */
export function latest(deps: LatestDeps) {
  const { board, catalogue, codes, now } = deps

  const rowText = (one: Resolved): Rendered | undefined =>
    board.rendered(`${one.code} ${one.requestedCode ?? ''}`, one.series, quote =>
      JSON.stringify(priceRow(quote, one.code, one.requestedCode)),
    )

  const single = (one: Resolved): Rendered => {
    const found = board.rendered(
      `= ${one.code} ${one.requestedCode ?? ''}`,
      one.series,
      quote => `{"status":"success","data":${JSON.stringify(priceRow(quote, one.code, one.requestedCode))}}`,
    )
    if (!found) throw new Problem('DATA_NOT_AVAILABLE', `${one.code} has no current price.`, { commodity_code: one.code })
    return found
  }

  /** Rows joined from their kept texts: nothing is serialised twice. */
  const several = (found: readonly Resolved[], listed: boolean): string => {
    const texts = found.map(rowText)
    const rows = texts.filter(text => text !== undefined)
    const missing = listed ? `"missing_codes":${JSON.stringify(found.filter((_, i) => !texts[i]).map(one => one.code))},` : ''
    return `{"status":"success","data":{"prices":[${rows.map(row => row.text).join(',')}],${missing}"count":${rows.length}}}`
  }

  const everything = (): Resolved[] => {
    const first = deps.firstCodes.flatMap(code => catalogue.resolve(code, now()) ?? [])
    const heads = new Set(first.map(one => one.series.id))
    const rest = catalogue.list().filter(series => !heads.has(series.id) && catalogue.hasData(series))
    return [
      ...first.filter(one => catalogue.hasData(one.series)),
      ...rest.map(series => ({ series, code: series.code, requestedCode: undefined })),
    ]
  }

  return new Elysia().use(deps.access).get(
    '/v1/prices/latest',
    ({ query, request, set, caller }) => {
      const asked = query.by_code === undefined ? [] : listOf(query.by_code)
      const found = asked.length > 0 ? codes.read(asked, request) : everything()
      markFixtures(set as Answering, deps.marks, found)
      if (asked.length === 1) {
        const { text, etag, fresh } = single(found[0]!)
        deps.meter.asked(caller.key, [found[0]!.series.id], etag)
        return tagged(request, set as Answering, text, !fresh, etag)
      }
      deps.meter.asked(
        caller.key,
        found.map(one => one.series.id),
      )
      return tagged(request, set as Answering, several(found, asked.length > 0), false)
    },
    {
      access: { meter: true },
      query: t.Object({
        by_code: t.Optional(
          t.String({
            description: 'One to twenty codes or aliases, comma-separated; absent: every available code.',
            examples: ['WTI_USD'],
          }),
        ),
      }),
      response: { 200: serialised(t.Union([One, Several])), 304: t.Void(), 400: FailProblem, 404: NestedProblem },
      detail: {
        operationId: 'getLatestPrices',
        tags: ['prices'],
        summary: 'Latest prices',
        description:
          'The newest price of each code. One code answers a flat object in `data`; two or more answer `data.prices[]` in the order asked, with known codes that have no price in `missing_codes`. Send the `ETag` of an answer as `If-None-Match`: while nothing changed the answer is 304, which does not count against the quota.',
      },
    },
  )
}

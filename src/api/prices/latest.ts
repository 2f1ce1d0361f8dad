import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { serialised } from '../../http/answer/serialised.ts'
import { listOf } from '../../http/input/query.ts'
import { codesParameter } from '../../http/input/typed.ts'
import { missingParameter } from '../../http/problem/problem.ts'
import { FailProblem, NestedProblem } from '../../http/problem/shape.ts'
import { type Answering, envelope, markFixtures, tagged } from '../answer.ts'
import type { Context } from '../context.ts'
import { asOfQuery, atPoint } from '../point-in-time.ts'
import { isFullOf, precisionQuery } from './precision.ts'
import { PriceRow } from './row.ts'
import { createEveryPrice, createPriceTexts } from './texts.ts'

export type LatestDeps = Pick<
  Context,
  'access' | 'board' | 'catalogue' | 'codes' | 'meter' | 'marks' | 'now' | 'firstCodes' | 'pricesAt'
>

const SinglePrice = envelope(PriceRow)
const PriceList = envelope(
  t.Object({
    prices: t.Array(PriceRow),
    missing_codes: t.Optional(t.Array(t.String())),
    count: integer(),
  }),
)

/** The newest price of one code, of several, or of every code that has one. */
export function latestRoutes(deps: LatestDeps) {
  const { board, codes } = deps
  const rounded = { ...createPriceTexts(board), every: createEveryPrice(deps) }
  const full = { ...createPriceTexts(board, true), every: createEveryPrice(deps, true) }

  return new Elysia().use(deps.access).get(
    '/v1/prices/latest',
    ({ query, request, set, caller }) => {
      const isFull = isFullOf(query.precision)
      const { single, several, every } = isFull ? full : rounded
      const requestedCodes = query.by_code === undefined ? [] : listOf(query.by_code)
      if (requestedCodes.length === 0 && !query.as_of) {
        const prices = every()
        markFixtures(set as Answering, deps.marks, prices.commodities)
        deps.meter.noteAsked(caller.key, prices.seriesIds)
        const { text, etag, fresh } = prices
        const body = tagged(request, set as Answering, text, !fresh, etag)
        return body
      }
      const { known: commodities, unknown } =
        requestedCodes.length > 0
          ? codes.readSome(requestedCodes, request, (set as Answering).headers)
          : { known: [], unknown: [] }
      markFixtures(set as Answering, deps.marks, commodities)
      // One `return` of a variable that is set in two places: Elysia takes a handler that returns a
      // call for an asynchronous one, and then awaits it at every request.
      let text: string | undefined
      if (query.as_of) {
        if (requestedCodes.length === 0)
          throw missingParameter('by_code', 'as_of answers one to twenty codes.')
        deps.meter.noteAsked(
          caller.key,
          commodities.map(({ series }) => series.id),
        )
        text = atPoint(deps, query, set as Answering, known => {
          const texts = createPriceTexts(known.board, isFull)
          const isSingle = requestedCodes.length === 1
          const past = isSingle
            ? texts.single(commodities[0]!).text
            : texts.several(commodities, unknown)
          return tagged(request, set as Answering, past, false)
        })
      } else if (requestedCodes.length === 1) {
        const rendered = single(commodities[0]!)
        deps.meter.noteAsked(caller.key, [commodities[0]!.series.id], rendered.etag)
        text = tagged(request, set as Answering, rendered.text, !rendered.fresh, rendered.etag)
      } else {
        deps.meter.noteAsked(
          caller.key,
          commodities.map(({ series }) => series.id),
        )
        text = tagged(request, set as Answering, several(commodities, unknown), false)
      }
      return text
    },
    {
      access: { meter: true },
      query: t.Object({
        by_code: codesParameter(20, {
          description:
            'One to twenty codes or aliases, comma-separated; absent: every available code.',
          examples: ['WTI_USD'],
        }),
        as_of: asOfQuery,
        ...precisionQuery,
      }),
      response: {
        200: serialised(t.Union([SinglePrice, PriceList])),
        304: t.Void(),
        400: t.Union([FailProblem, NestedProblem]),
        404: NestedProblem,
      },
      detail: {
        operationId: 'getLatestPrices',
        tags: ['prices'],
        summary: 'Latest prices',
        description:
          'The newest price of each code. One code answers a flat object in `data`; two or more answer `data.prices[]` in the order asked, with known codes that have no price in `missing_codes`. An unknown code refuses the request; with `Prefer: handling=lenient` it is named in `missing_codes`, and the others are answered. Send the `ETag` of an answer as `If-None-Match`: while nothing changed the answer is 304, which does not count against the quota. With `as_of` the prices as they were known then.',
      },
    },
  )
}

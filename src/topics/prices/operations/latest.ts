import type { Static } from 'elysia'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import type { KnownCodes } from '../../../http/input/codes.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, type Reply, tagged } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { asOfQuery, atPoint } from '../../../http/operations/point-in-time.ts'
import { missingParameter } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { isFullOf, precisionQuery } from './precision.ts'
import { PriceList, PriceRow } from './row.ts'
import { createEveryAnswer, createPriceTexts } from './texts.ts'

const SinglePrice = envelope(PriceRow)

const latestQuery = t.Object({
  by_code: codesParameter(
    20,
    'One to twenty codes or aliases, comma-separated; absent: every available code.',
    'WTI_USD',
  ),
  as_of: asOfQuery,
  ...precisionQuery,
})

/** The inputs of a request for the newest prices. */
interface LatestCall {
  query: Static<typeof latestQuery>
  request: Request
  reply: Reply
  caller: Caller
}

/** The newest price of one code, of several, or of every code that has one. */
export function latestOperations(deps: Context) {
  const { latestPrices, codes, meter } = deps
  const rounded = { ...createPriceTexts(latestPrices), every: createEveryAnswer(deps) }
  const full = { ...createPriceTexts(latestPrices, true), every: createEveryAnswer(deps, true) }
  const idsOf = (commodities: readonly Resolved[]) => commodities.map(({ series }) => series.id)

  const isBeside = (request: Request) => deps.switched(request, 'latest_flat_and_list')

  const answerPast = (
    { query, request, caller }: LatestCall,
    answering: Reply,
    { known: commodities, unknown }: KnownCodes,
    { isFull, isSingle }: { isFull: boolean; isSingle: boolean },
  ) => {
    meter.noteRequested(caller.key, idsOf(commodities))
    return atPoint(deps, query, answering, known => {
      const texts = createPriceTexts(known.latestPrices, isFull)
      const past = isSingle
        ? texts.single(commodities[0]!, deps.catalogue, isBeside(request)).text
        : texts.several(commodities, unknown)
      return tagged(request, answering, past, false)
    })
  }

  const answer = (call: LatestCall): string | undefined => {
    const { query, request, reply: answering, caller } = call
    const isFull = isFullOf(query.precision)
    const requestedCodes = query.by_code === undefined ? [] : listOf(query.by_code)
    if (requestedCodes.length === 0) {
      if (query.as_of)
        throw missingParameter('by_code', 'by_code must name one to twenty codes with as_of.')
      return (isFull ? full : rounded).every(call, answering)
    }
    const resolved = codes.readSome(requestedCodes, request, answering.headers)
    const commodities = resolved.known
    markFixtures(answering, deps.marks, commodities)
    const isSingle = requestedCodes.length === 1
    if (query.as_of) return answerPast(call, answering, resolved, { isFull, isSingle })
    const { single, several } = isFull ? full : rounded
    if (!isSingle) {
      meter.noteRequested(caller.key, idsOf(commodities))
      return tagged(request, answering, several(commodities, resolved.unknown), false)
    }
    const rendered = single(commodities[0]!, deps.catalogue, isBeside(request))
    meter.noteRequested(caller.key, [commodities[0]!.series.id], rendered.etag)
    return tagged(request, answering, rendered.text, !rendered.fresh, rendered.etag)
  }

  return [
    operation('GET /v1/prices/latest', {
      operationId: 'getLatestPrices',
      summary: 'Get latest prices',
      description:
        'Returns the newest price of each code. One code returns a flat object in `data`; two or more return `data.prices[]` in the order requested, with known codes without a price in `missing_codes`. An unknown code fails the request; with `Prefer: handling=lenient` it is named in `missing_codes` and the others are returned. Send the `ETag` as `If-None-Match`: unchanged prices return 304, which does not count against the quota. With `as_of`, the prices known at that time.',
      access: { meter: true },
      query: latestQuery.properties,
      answers: {
        200: serialised(t.Union([SinglePrice, PriceList])),
        304: t.Void(),
        400: CodeProblem,
        404: NestedProblem,
      },
      handle: answer,
    }),
  ]
}

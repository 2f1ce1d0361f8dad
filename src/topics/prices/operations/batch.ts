import { t } from '../../../http/answer/schema.ts'
import { documentedBody } from '../../../http/input/body-schema.ts'
import { envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atPoint } from '../../../http/operations/point-in-time.ts'
import { invalidParameter, Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isObject } from '../../../lib/text/json.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { ConvertedRow, convertedRow, currencyOf, isMoney, rateOf } from './currency.ts'
import { isFullOf } from './precision.ts'
import { priceRow } from './row.ts'

type Field = keyof ConvertedRow

const fieldNames = Object.keys(ConvertedRow.properties) as Field[]

const BatchBody = t.Object(
  {
    codes: t.Array(t.String(), {
      minItems: 1,
      maxItems: 20,
      description: 'Codes or aliases; duplicates are returned once.',
    }),
    fields: t.Optional(
      t.Array(t.String(), {
        description: `Fields to return in addition to \`code\`. Default: all. One of: ${fieldNames.join(', ')}.`,
      }),
    ),
    currency: t.Optional(
      t.string(
        'Converts all prices to this currency: USD, EUR, GBP, or another currency with a rate.',
      ),
    ),
    as_of: t.Optional(t.instant('Returns the prices and rates known at this time.')),
    precision: t.Optional(
      t.String({
        enum: ['rounded', 'full'],
        description:
          '`full` returns prices and changes with every stored digit; percentages and texts are always rounded. Default: `rounded`.',
      }),
    ),
  },
  {
    examples: [
      {
        codes: ['BRENT_CRUDE_USD', 'WTI_USD'],
        fields: ['price', 'formatted', 'created_at'],
        currency: 'EUR',
      },
    ],
  },
)

/** The day is the beginning of a time as text. */
const isoDayCharacters = 'YYYY-MM-DD'.length

const Row = t.Composite(
  [t.Pick(ConvertedRow, ['code']), t.Partial(t.Omit(ConvertedRow, ['code']))],
  { title: 'BatchRow' },
)
type Row = (typeof Row)['static']

const Batch = envelopeOf({
  prices: t.Array(Row, { description: 'In the order requested, without duplicates.' }),
  missing_codes: t.Array(t.String(), {
    description: 'Known codes without a current price.',
  }),
  count: t.integer(),
  currency: t.Optional(t.string('The requested currency.')),
})

/**
 * Returns the newest prices of up to twenty codes in one request, optionally in one currency and
 * only some of their fields.
 */
export function batchOperations(deps: Context) {
  const rowOf = (
    { latestPrices, exchange, now }: Context,
    commodity: Resolved,
    currency: string | undefined,
    legs: Resolved[],
    isFull: boolean,
  ): ConvertedRow | undefined => {
    const quote = latestPrices.quote(commodity.series)
    if (!quote) return undefined
    const priced = priceRow(quote, commodity.code, commodity.requestedCode, isFull)
    const row = { ...priced, as_of: priced.as_of ?? priced.created_at.slice(0, isoDayCharacters) }
    if (currency === undefined || !isMoney(commodity.series)) return row
    const rate = rateOf(
      'currency',
      commodity.series,
      currency,
      exchange,
      now(),
      quote.observation.observedAt,
    )
    legs.push(...rate.legs)
    return convertedRow(row, commodity.series, currency, rate, isFull)
  }

  return [
    operation('POST /v1/prices/batch', {
      operationId: 'getPriceBatch',
      summary: 'Get prices of several codes',
      description:
        'Returns the newest price of up to twenty codes and counts as one request. An unknown code fails the request; with `Prefer: handling=lenient` it is named in `missing_codes` and the others are returned. With `currency`, prices are converted at the newest rates, none of them more than seven days older than the price, and report the original values in `original_price`, `original_currency`, `fx_rate` and `fx_as_of`; exchange rates and series without a currency are not converted. A price without such a rate is refused (400). Prices in pence are divided by 100 first. Every row has `as_of`, the day of its price.',
      access: { meter: true, header: true, action: 'read' },
      body: documentedBody(BatchBody, false),
      answers: { 200: Batch, 400: CodeProblem, 413: NestedProblem },
      handle: ({ body, request, reply, caller }) => {
        const requested = readBatch(body)
        const { known: commodities, unknown } = deps.codes.readSome(
          requested.codes,
          request,
          reply.headers,
        )
        const legs: Resolved[] = []
        const { rows, currency } = atPoint(deps, { as_of: requested.asOf }, reply, known => {
          const target =
            requested.currency === undefined
              ? undefined
              : currencyOf('currency', requested.currency, known.exchange, known.now())
          return {
            currency: target,
            rows: commodities.map(commodity =>
              rowOf(known, commodity, target, legs, requested.isFull),
            ),
          }
        })
        const prices = rows
          .filter(row => row !== undefined)
          .map(row => selected(row, requested.fields))
        markFixtures(reply, deps.marks, [...commodities, ...legs])
        reply.headers['x-cache'] = 'MISS'
        deps.meter.noteRequested(
          caller.key,
          commodities.map(commodity => commodity.series.id),
        )
        const missing = commodities.filter((_, i) => !rows[i]).map(commodity => commodity.code)
        return success({
          prices,
          missing_codes: [...missing, ...unknown],
          count: prices.length,
          ...(currency !== undefined && { currency }),
        })
      },
    }),
  ]
}

/** Refuses like the parameters of the other price endpoints do, not like a form. */
function readBatch(body: unknown) {
  const {
    codes,
    fields,
    currency,
    as_of: asOf,
    precision,
  }: Record<string, unknown> = isObject(body) ? body : {}
  const requestedCodes = textsOf('codes', codes)
  if (requestedCodes.length === 0)
    throw new Problem(
      'MISSING_CODES',
      'The body must list the codes: {"codes": ["WTI_USD", "BRENT_CRUDE_USD"]}.',
    )
  if (currency !== undefined && currency !== null && typeof currency !== 'string') {
    throw invalidParameter('currency', currency, 'a currency code, such as "EUR"')
  }
  if (asOf !== undefined && asOf !== null && typeof asOf !== 'string') {
    throw invalidParameter(
      'as_of',
      asOf,
      'an ISO 8601 time with a zone, such as "2026-11-01T12:00:00Z"',
    )
  }
  if (precision !== undefined && precision !== null && typeof precision !== 'string') {
    throw invalidParameter('precision', precision, ['rounded', 'full'])
  }
  return {
    codes: requestedCodes,
    /** Without any: all of them. */
    fields: fieldsOf(textsOf('fields', fields)),
    currency: currency || undefined,
    asOf: asOf || undefined,
    isFull: isFullOf(precision || undefined),
  }
}

function textsOf(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(item => typeof item === 'string')) {
    throw invalidParameter(name, value, 'a list of strings')
  }
  return value.map(item => item.trim()).filter(Boolean)
}

function fieldsOf(names: readonly string[]): readonly Field[] {
  const isField = (name: string): name is Field => (fieldNames as readonly string[]).includes(name)
  const unknown = names.find(name => !isField(name))
  if (unknown !== undefined) throw invalidParameter('fields', unknown, fieldNames)
  return names.filter(isField)
}

const selected = (row: ConvertedRow, fields: readonly Field[]): Row =>
  fields.length === 0
    ? row
    : (Object.fromEntries(
        Object.entries(row).filter(([name]) => name === 'code' || fields.includes(name as Field)),
      ) as Row)

import { t } from '../../../http/answer/schema.ts'
import { listOf } from '../../../http/input/query.ts'
import { codeParameter, codesParameter, wordParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { arbitragePercent, gradeDifferences, gradeSpread, isArbitrage } from '../math/bunker.ts'
import type { Port } from '../math/marine.ts'
import {
  bunkerAccess,
  byPort,
  createBunkerAnswers,
  firstMinusSecond,
  pricesOf,
  quotedSeries,
} from './bunker-answers.ts'
import {
  byGrade,
  DifferenceShape,
  differenceRow,
  differenceRows,
  MetaShape,
  PairSpread,
  PortShape,
  PricedPort,
  pricedPort,
} from './bunker-row.ts'
import { gradeIn, gradeNames, portIn, priceQuery } from './marine-query.ts'

const access = bunkerAccess
const refusals = { 400: NestedProblem, 404: NestedProblem }
const metadata = { metadata: MetaShape }
const comparedMax = 10

/** The differences between the prices of ports and grades. */
export const bunkerSpreadsOperations: Operations = [
  comparisonOperations,
  gradeSpreadOperations,
  portSpreadOperations,
]

/** Two to ten ports, each once. */
function comparedPorts(text: string | undefined, ports: readonly Port[]): Port[] {
  if (!text?.trim()) throw missingParameter('ports', 'name two to ten ports, comma-separated.')
  const compared = [...new Set(listOf(text).map(portText => portIn(ports, portText)))]
  if (compared.length < 2 || compared.length > comparedMax)
    throw invalidParameter('ports', text, `two to ${comparedMax} different ports, comma-separated`)
  return compared
}

function comparisonOperations(deps: Context) {
  const { quotesAt, meta } = createBunkerAnswers(deps)
  return [
    operation('GET /v1/bunker-fuels/compare', {
      operationId: 'compareBunkerPorts',
      summary: 'Compare bunker fuel prices of ports',
      description: `Returns the prices of two to ten ports and, for each pair (\`SIN_RTM\`) the spread of every grade that both sell. ${firstMinusSecond}`,
      access,
      query: {
        ports: codesParameter(
          comparedMax,
          'Two to ten ports, comma-separated, in any of their spellings.',
          'SIN,RTM',
          { required: true },
        ),
      },
      answers: {
        200: t.object('BunkerComparison', {
          data: t.Object({
            comparison: t.Record(t.String(), PricedPort),
            spreads: t.Record(t.String(), byGrade),
            ...metadata,
          }),
        }),
        ...refusals,
      },
      handle: ({ query, request, reply }) => {
        const compared = comparedPorts(query.ports, deps.ports).map(port => ({
          port,
          quotes: quotesAt([port]),
        }))
        const pairs = compared.flatMap((first, i) =>
          compared.slice(i + 1).map(second => [first, second] as const),
        )
        return {
          data: {
            comparison: Object.fromEntries(
              compared.map(({ port, quotes }) => [port.shortCode, pricedPort([port, quotes])]),
            ),
            spreads: Object.fromEntries(
              pairs.map(([a, b]) => [
                `${a.port.shortCode}_${b.port.shortCode}`,
                differenceRows(gradeDifferences(pricesOf(a.quotes), pricesOf(b.quotes))),
              ]),
            ),
            metadata: meta(
              request,
              reply,
              quotedSeries(compared.flatMap(portQuotes => portQuotes.quotes)),
              compared.length,
            ),
          },
        }
      },
    }),
  ]
}

const portValues = t.Record(t.String(), t.Number(), {
  description: 'By short code; ports without one of the two are omitted.',
})
const average = t.numberOrNull('Arithmetic mean of the ports; null without any.', -188.2)

function gradeSpreadOperations(deps: Context) {
  const { requireQuotesAt, meta } = createBunkerAnswers(deps)
  return [
    operation('GET /v1/bunker-fuels/spreads', {
      operationId: 'getBunkerSpreads',
      summary: 'Get spreads between bunker fuel grades',
      description:
        'Returns for each port, in USD per metric ton: VLSFO minus MGO_05S, and VLSFO minus HFO_380 (the saving of a scrubber).',
      access,
      answers: {
        200: t.object('BunkerGradeSpreads', {
          data: t.Object({
            vlsfo_mgo: portValues,
            vlsfo_ifo380: portValues,
            averages: t.Object({ vlsfo_mgo: average, vlsfo_ifo380: average }),
            ...metadata,
          }),
        }),
        404: NestedProblem,
      },
      handle: ({ request, reply }) => {
        const quotes = requireQuotesAt(deps.ports)
        const prices = new Map(
          [...byPort(quotes)].map(([port, portQuotes]) => [port, pricesOf(portQuotes)]),
        )
        const [mgo, ifo380] = [
          gradeSpread(prices, ['VLSFO', 'MGO_05S']),
          gradeSpread(prices, ['VLSFO', 'HFO_380']),
        ]
        const values = ({ values }: typeof mgo) =>
          Object.fromEntries([...values].map(([port, value]) => [port.shortCode, value]))
        return {
          data: {
            vlsfo_mgo: values(mgo),
            vlsfo_ifo380: values(ifo380),
            averages: { vlsfo_mgo: mgo.average ?? null, vlsfo_ifo380: ifo380.average ?? null },
            metadata: meta(request, reply, quotedSeries(quotes), prices.size),
          },
        }
      },
    }),
  ]
}

function portSpreadOperations(deps: Context) {
  const { quotesAt, meta } = createBunkerAnswers(deps)
  const place = (parameter: 'from' | 'to', text: string | undefined): Port => {
    if (!text?.trim()) throw missingParameter(parameter, 'name a port, such as SIN.')
    return portIn(deps.ports, text)
  }
  return [
    operation('GET /v1/bunker-fuels/spreads/ports', {
      operationId: 'getBunkerPortSpread',
      summary: 'Get the spread between two ports',
      description: `Returns the price at \`from\` minus the price at \`to\`, for one grade or all. \`arbitrage_opportunity\`: the prices are more than ${arbitragePercent}% apart, in either direction; the cost of the voyage is not included.`,
      access,
      query: {
        from: codeParameter('The first port, in any of its spellings.', 'SIN', { required: true }),
        to: codeParameter('The second port.', 'RTM', { required: true }),
        grade: wordParameter(gradeNames, 'One grade or an alias of it; absent: all.', 'VLSFO'),
        fuel_type: priceQuery.fuel_type,
      },
      answers: {
        200: t.object('BunkerPortSpread', {
          data: t.Object({
            from_port: PortShape.properties.code,
            to_port: PortShape.properties.code,
            fuel_grade: t.orNull(t.String({ examples: ['VLSFO'] })),
            spreads: t.Union([PairSpread, t.Record(t.String(), DifferenceShape)], {
              description:
                'Of the grade, or without a grade keyed by grade in lower case. Empty if a port has no price.',
            }),
            ...metadata,
          }),
        }),
        ...refusals,
      },
      handle: ({ query, request, reply }) => {
        const [from, to] = [place('from', query.from), place('to', query.to)]
        const grade = gradeIn(query)
        const [a, b] = [quotesAt([from], grade), quotesAt([to], grade)]
        const differences = gradeDifferences(pricesOf(a), pricesOf(b))
        const gradeDifference = grade && differences.get(grade)
        return {
          data: {
            from_port: from.shortCode,
            to_port: to.shortCode,
            fuel_grade: grade ?? null,
            spreads:
              grade && gradeDifference
                ? {
                    ...differenceRow(gradeDifference),
                    from_price: pricesOf(a).get(grade)!,
                    to_price: pricesOf(b).get(grade)!,
                    arbitrage_opportunity: isArbitrage(gradeDifference),
                  }
                : differenceRows(differences, name => name.toLowerCase()),
            metadata: meta(request, reply, quotedSeries([...a, ...b]), 2),
          },
        }
      },
    }),
  ]
}

import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import {
  difference,
  gradeDifferences,
  scrubberBenefitDaily,
  scrubberTonsADay,
} from '../math/bunker.ts'
import type { Grade } from '../math/marine.ts'
import {
  bunkerAccess,
  byPort,
  createBunkerAnswers,
  firstMinusSecond,
  pricesOf,
  quotedSeries,
} from './bunker-answers.ts'
import { bunkerExportOperations } from './bunker-export.ts'
import { bunkerHistoryOperations } from './bunker-history.ts'
import {
  type BunkerQuote,
  byGrade,
  differenceRow,
  differenceRows,
  EntryShape,
  entryRow,
  ListRow,
  listRow,
  MetaShape,
  PricedPort,
  pricedPort,
  ScrubberSpread,
} from './bunker-row.ts'
import { bunkerSpreadsOperations } from './bunker-spreads.ts'
import { portIn } from './marine-query.ts'

const access = bunkerAccess
const metadata = { metadata: MetaShape }
const order =
  'Ports are ordered by sales, largest first; grades within a port by VLSFO, HFO_380, HFO_180, MGO_05S.'

/** Bunker fuel: prices of the marine series by port, and spreads between them. */
export const bunkerOperations: Operations = [
  listOperations,
  portOperations,
  bunkerSpreadsOperations,
  bunkerHistoryOperations,
  bunkerExportOperations,
]

function listOperations(deps: Context) {
  const { requireQuotesAt, meta } = createBunkerAnswers(deps)
  return [
    operation('GET /v1/bunker-fuels', {
      operationId: 'listBunkerFuels',
      summary: 'List bunker fuel prices',
      description: `Returns the newest price of every grade at every port as one list. ${order}`,
      access,
      answers: {
        200: t.object('BunkerPrices', { data: t.Array(ListRow), meta: MetaShape }),
        404: NestedProblem,
      },
      handle: ({ request, reply }) => {
        const quotes = requireQuotesAt(deps.ports)
        return {
          data: quotes.map(listRow),
          meta: meta(request, reply, quotedSeries(quotes), byPort(quotes).size),
        }
      },
    }),
    operation('GET /v1/bunker-fuels/all', {
      operationId: 'listBunkerPorts',
      summary: 'List bunker fuel prices by port',
      description: `Returns the newest prices keyed by the short code of the port. ${order}`,
      access,
      answers: {
        200: t.object('BunkerPorts', {
          data: t.Object({ ports: t.Record(t.String(), PricedPort), ...metadata }),
        }),
        404: NestedProblem,
      },
      handle: ({ request, reply }) => {
        const quotes = requireQuotesAt(deps.ports)
        const ports = Object.fromEntries(
          [...byPort(quotes)].map(portQuotes => [portQuotes[0].shortCode, pricedPort(portQuotes)]),
        )
        return {
          data: {
            ports,
            metadata: meta(request, reply, quotedSeries(quotes), Object.keys(ports).length),
          },
        }
      },
    }),
  ]
}

const entryOf = (quotes: readonly BunkerQuote[], grade: Grade) => {
  const bunkerQuote = quotes.find(quoted => quoted.grade === grade)
  return bunkerQuote ? entryRow(bunkerQuote) : null
}
const EntryOrNull = t.orNull(EntryShape)

function portOperations(deps: Context) {
  const { quotesAt, requireQuotesAt, meta } = createBunkerAnswers(deps)
  return [
    operation('GET /v1/bunker-fuels/ports/:code', {
      operationId: 'getBunkerPort',
      summary: 'Get the bunker fuel prices of a port',
      description: `Returns the newest price of every grade at a port, the differences to other ports, and the saving of a scrubber: \`scrubber_benefit_daily\` is VLSFO minus HFO_380 for a ship that burns ${scrubberTonsADay} t a day at sea. ${firstMinusSecond}`,
      access,
      params: {
        code: t.string('UN/LOCODE, short code, slug or name of a port, in any case.', 'SIN'),
      },
      answers: t.object('BunkerPortAnswer', {
        data: t.Object({
          ...PricedPort.properties,
          vlsfo: EntryOrNull,
          mgo: EntryOrNull,
          ifo380: EntryOrNull,
          spreads: t.Object(
            {
              vlsfo_hsfo_spread: t.orNull(
                ScrubberSpread,
                'Null where a price of the two is missing.',
              ),
            },
            {
              additionalProperties: byGrade,
              description: '`to_<port>` for every other port: this port minus that one.',
            },
          ),
          ...metadata,
        }),
      }),
      handle: ({ params, request, reply }) => {
        const port = portIn(deps.ports, params.code)
        const quotes = requireQuotesAt([port])
        const ownPrices = pricesOf(quotes)
        const otherPorts = byPort(quotesAt(deps.ports.filter(candidate => candidate !== port)))
        const [vlsfo, hsfo] = [ownPrices.get('VLSFO'), ownPrices.get('HFO_380')]
        const scrubberSpread =
          vlsfo === undefined || hsfo === undefined ? undefined : difference(vlsfo, hsfo)
        return {
          data: {
            ...pricedPort([port, quotes]),
            vlsfo: entryOf(quotes, 'VLSFO'),
            mgo: entryOf(quotes, 'MGO_05S'),
            ifo380: entryOf(quotes, 'HFO_380'),
            spreads: {
              ...Object.fromEntries(
                [...otherPorts].map(([otherPort, prices]) => [
                  `to_${otherPort.shortCode.toLowerCase()}`,
                  differenceRows(gradeDifferences(ownPrices, pricesOf(prices))),
                ]),
              ),
              vlsfo_hsfo_spread: scrubberSpread
                ? {
                    ...differenceRow(scrubberSpread),
                    scrubber_benefit_daily: scrubberBenefitDaily(scrubberSpread),
                  }
                : null,
            },
            metadata: meta(
              request,
              reply,
              quotedSeries([...quotes, ...[...otherPorts.values()].flat()]),
            ),
          },
        }
      },
    }),
  ]
}

import { Elysia, t } from 'elysia'
import { NestedProblem } from '../../http/problem/shape.ts'
import {
  difference,
  gradeDifferences,
  scrubberBenefitDaily,
  scrubberTonsADay,
} from '../../market/fuels/bunker.ts'
import type { Grade } from '../../market/fuels/marine.ts'
import type { Answering } from '../answer.ts'
import {
  type BunkerDeps,
  bunkerAccess,
  bunkerDetail,
  bunkerPort,
  byPort,
  createBunkerAnswers,
  firstMinusSecond,
  pricesOf,
  quotedSeries,
} from './bunker-answers.ts'
import { bunkerExportRoutes } from './bunker-export.ts'
import { bunkerHistoryRoutes } from './bunker-history.ts'
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
import { bunkerSpreadsRoutes } from './bunker-spreads.ts'

const access = bunkerAccess
const metadata = { metadata: MetaShape }
const order =
  'The port that sells most comes first; within a port VLSFO, HFO_380, HFO_180, MGO_05S.'

/** Bunker fuel: the prices of the marine series by port, and how they stand to each other. */
export const bunkerRoutes = (deps: BunkerDeps) =>
  new Elysia()
    .use(lists(deps))
    .use(onePort(deps))
    .use(bunkerSpreadsRoutes(deps))
    .use(bunkerHistoryRoutes(deps))
    .use(bunkerExportRoutes(deps))

function lists(deps: BunkerDeps) {
  const { someQuotesAt, meta } = createBunkerAnswers(deps)
  return new Elysia()
    .use(deps.access)
    .get(
      '/v1/bunker-fuels',
      ({ request, set }) => {
        const found = someQuotesAt(deps.ports)
        return {
          data: found.map(listRow),
          meta: meta(request, set as Answering, quotedSeries(found), byPort(found).size),
        }
      },
      {
        access,
        response: {
          200: t.Object({ data: t.Array(ListRow), meta: MetaShape }, { title: 'BunkerPrices' }),
          404: NestedProblem,
        },
        detail: bunkerDetail(
          'listBunkerFuels',
          'Bunker fuel prices',
          `The newest price of every grade at every port, as one list. ${order}`,
        ),
      },
    )
    .get(
      '/v1/bunker-fuels/all',
      ({ request, set }) => {
        const found = someQuotesAt(deps.ports)
        const ports = Object.fromEntries(
          [...byPort(found)].map(one => [one[0].shortCode, pricedPort(one)]),
        )
        return {
          data: {
            ports,
            metadata: meta(
              request,
              set as Answering,
              quotedSeries(found),
              Object.keys(ports).length,
            ),
          },
        }
      },
      {
        access,
        response: {
          200: t.Object(
            { data: t.Object({ ports: t.Record(t.String(), PricedPort), ...metadata }) },
            { title: 'BunkerPorts' },
          ),
          404: NestedProblem,
        },
        detail: bunkerDetail(
          'listBunkerPorts',
          'Bunker fuel prices by port',
          `The same by the short code of the port. ${order}`,
        ),
      },
    )
}

const entryOf = (found: readonly BunkerQuote[], grade: Grade) => {
  const one = found.find(quoted => quoted.grade === grade)
  return one ? entryRow(one) : null
}
const EntryOrNull = t.Union([EntryShape, t.Null()])

function onePort(deps: BunkerDeps) {
  const { quotesAt, someQuotesAt, meta } = createBunkerAnswers(deps)
  return new Elysia().use(deps.access).get(
    '/v1/bunker-fuels/ports/:code',
    ({ params, request, set }) => {
      const port = bunkerPort(deps.ports, params.code)
      const found = someQuotesAt([port])
      const own = pricesOf(found)
      const others = byPort(quotesAt(deps.ports.filter(one => one !== port)))
      const [vlsfo, hsfo] = [own.get('VLSFO'), own.get('HFO_380')]
      const scrubbed =
        vlsfo === undefined || hsfo === undefined ? undefined : difference(vlsfo, hsfo)
      return {
        data: {
          ...pricedPort([port, found]),
          vlsfo: entryOf(found, 'VLSFO'),
          mgo: entryOf(found, 'MGO_05S'),
          ifo380: entryOf(found, 'HFO_380'),
          spreads: {
            ...Object.fromEntries(
              [...others].map(([other, prices]) => [
                `to_${other.shortCode.toLowerCase()}`,
                differenceRows(gradeDifferences(own, pricesOf(prices))),
              ]),
            ),
            vlsfo_hsfo_spread: scrubbed
              ? {
                  ...differenceRow(scrubbed),
                  scrubber_benefit_daily: scrubberBenefitDaily(scrubbed),
                }
              : null,
          },
          metadata: meta(
            request,
            set as Answering,
            quotedSeries([...found, ...[...others.values()].flat()]),
          ),
        },
      }
    },
    {
      access,
      params: t.Object({
        code: t.String({
          description: 'UN/LOCODE, short code, slug or name of a port, in any case.',
          examples: ['SIN'],
        }),
      }),
      response: {
        200: t.Object(
          {
            data: t.Object({
              ...PricedPort.properties,
              vlsfo: EntryOrNull,
              mgo: EntryOrNull,
              ifo380: EntryOrNull,
              spreads: t.Object(
                {
                  vlsfo_hsfo_spread: t.Union([ScrubberSpread, t.Null()], {
                    description: 'Null where a price of the two is missing.',
                  }),
                },
                {
                  additionalProperties: byGrade,
                  description: '`to_<port>` for every other port: this port minus that one.',
                },
              ),
              ...metadata,
            }),
          },
          { title: 'BunkerPortAnswer' },
        ),
        404: NestedProblem,
      },
      detail: bunkerDetail(
        'getBunkerPort',
        'Bunker fuel prices of a port',
        `The newest price of every grade at a port, how they stand to the other ports and what a scrubber saves there: \`scrubber_benefit_daily\` is VLSFO minus HFO_380 for a ship that burns ${scrubberTonsADay} t a day at sea. ${firstMinusSecond}`,
      ),
    },
  )
}

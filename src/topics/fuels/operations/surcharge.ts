import { t } from 'elysia'
import { PageMetaShape, pageOf, pageQuery } from '../../../http/input/page.ts'
import { type Answering, envelope, success } from '../../../http/operations/answer.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { RouteList } from '../../../http/route-list.ts'
import {
  carrierParams,
  createSurchargeAnswers,
  delayed,
  type FuelSurchargeDeps,
  listShape,
  refusals,
} from './surcharge-answers.ts'
import { parcelSurchargeRoutes } from './surcharge-parcel.ts'
import { SourceNote, SurchargeRow, surchargeRow } from './surcharge-row.ts'

const History = t.Object({
  status: t.Literal('success'),
  data: t.Object({ history: t.Array(SurchargeRow), metadata: SourceNote }),
  meta: PageMetaShape,
})

/**
 * What carriers add for fuel: less-than-truckload carriers, and parcel carriers by service level.
 */
export function fuelSurchargeRoutes(deps: FuelSurchargeDeps) {
  const { surcharges } = deps
  const { today, marked, carrierOf, present, listed, historyOf } = createSurchargeAnswers(deps)
  return new RouteList()
    .use(deps.access)
    .use(parcelSurchargeRoutes(deps))
    .get(
      '/v1/fuel-surcharge',
      ({ set }) =>
        listed(
          present(surcharges.inForce('ltl', today()), 'any carrier'),
          surchargeRow,
          set as Answering,
        ),
      {
        access: { meter: true },
        response: { 200: envelope(listShape(SurchargeRow)), 404: NestedProblem },
        detail: {
          operationId: 'listFuelSurcharges',
          tags: ['fuel surcharge'],
          summary: 'Fuel surcharges of all carriers',
          description: `What each less-than-truckload carrier charges now, by carrier.${delayed}`,
        },
      },
    )
    .get(
      '/v1/fuel-surcharge/:carrier/latest',
      ({ params, set }) => {
        const carrier = carrierOf('ltl', params.carrier)
        const [row] = present(surcharges.inForce('ltl', today(), carrier), carrier)
        return success({ ...surchargeRow(row!), metadata: marked(set as Answering, [row!]) })
      },
      {
        access: { meter: true },
        params: carrierParams('alder'),
        response: {
          200: envelope(t.Object({ ...SurchargeRow.properties, metadata: SourceNote })),
          404: NestedProblem,
        },
        detail: {
          operationId: 'getFuelSurcharge',
          tags: ['fuel surcharge'],
          summary: 'Fuel surcharge of a carrier',
          description: `What a less-than-truckload carrier charges now.${delayed}`,
        },
      },
    )
    .get(
      '/v1/fuel-surcharge/:carrier/history',
      ({ params, query, request, set }) => {
        const page = pageOf(query, deps.perPageMax)
        const carrier = carrierOf('ltl', params.carrier)
        const { rows, meta } = historyOf(
          { mode: 'ltl', carrier, serviceLevel: undefined },
          page,
          request,
          set as Answering,
        )
        return {
          ...success({ history: rows.map(surchargeRow), metadata: marked(set as Answering, rows) }),
          meta,
        }
      },
      {
        access: { meter: true },
        params: carrierParams('alder'),
        query: t.Object(pageQuery(deps.perPageMax)),
        response: { 200: History, ...refusals },
        detail: {
          operationId: 'getFuelSurchargeHistory',
          tags: ['fuel surcharge'],
          summary: 'Past fuel surcharges of a carrier',
          description:
            'One entry for each week, newest effective date first; a page of 100 is about two years.',
        },
      },
    )
}

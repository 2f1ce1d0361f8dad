import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { carrierParams, createSurchargeAnswers, delayed, listShape } from './surcharge-answers.ts'
import { parcelSurchargeOperations } from './surcharge-parcel.ts'
import { SourceNote, SurchargeRow, surchargeRow } from './surcharge-row.ts'

const History = t.Object({
  status: t.Literal('success'),
  data: t.Object({ history: t.Array(SurchargeRow), metadata: SourceNote }),
  meta: PageMetaShape,
})

/** Fuel surcharges: of less-than-truckload carriers, and of parcel carriers by service level. */
export function fuelSurchargeOperations(deps: Context) {
  const { surcharges } = deps
  const { today, marked, carrierOf, requireSome, listAnswer, historyOf } =
    createSurchargeAnswers(deps)
  return [
    ...parcelSurchargeOperations(deps),
    operation('GET /v1/fuel-surcharge', {
      operationId: 'listFuelSurcharges',
      summary: 'List fuel surcharges of all freight carriers',
      description: `Returns the current fuel surcharge of each less-than-truckload carrier.${delayed}`,
      access: { meter: true },
      answers: { 200: envelope(listShape(SurchargeRow)), 404: NestedProblem },
      handle: ({ reply }) =>
        listAnswer(
          requireSome(surcharges.inForce('ltl', today()), 'any carrier'),
          surchargeRow,
          reply,
        ),
    }),
    operation('GET /v1/fuel-surcharge/:carrier/latest', {
      operationId: 'getFuelSurcharge',
      summary: 'Get the fuel surcharge of a freight carrier',
      description: `Returns the current fuel surcharge of a less-than-truckload carrier.${delayed}`,
      access: { meter: true },
      params: carrierParams('alder').properties,
      answers: envelopeOf({ ...SurchargeRow.properties, metadata: SourceNote }),
      handle: ({ params, reply }) => {
        const carrier = carrierOf('ltl', params.carrier)
        const [row] = requireSome(surcharges.inForce('ltl', today(), carrier), carrier)
        return success({ ...surchargeRow(row!), metadata: marked(reply, [row!]) })
      },
    }),
    operation('GET /v1/fuel-surcharge/:carrier/history', {
      operationId: 'getFuelSurchargeHistory',
      summary: 'List historical fuel surcharges of a freight carrier',
      description:
        'Returns one entry per week, newest effective date first; a page of 100 covers about two years.',
      access: { meter: true },
      params: carrierParams('alder').properties,
      page: { max: deps.perPageMax },
      answers: History,
      handle: ({ params, page, reply }) => {
        const carrier = carrierOf('ltl', params.carrier)
        const { rows, meta } = historyOf({ mode: 'ltl', carrier, serviceLevel: undefined }, page)
        return {
          ...success({ history: rows.map(surchargeRow), metadata: marked(reply, rows) }),
          meta,
        }
      },
    }),
  ]
}

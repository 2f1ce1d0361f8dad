import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { textParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import type { Surcharge } from '../dataset/surcharges.ts'
import {
  carrierParams,
  createSurchargeAnswers,
  delayed,
  listShape,
  refusals,
} from './surcharge-answers.ts'
import { ParcelRow, parcelRow, SourceNote } from './surcharge-row.ts'

const carrierShape = {
  carrier: t.String({ examples: ['harbor'] }),
  carrier_name: t.String({ examples: ['Harbor Parcel'] }),
}
const History = t.Object({
  status: t.Literal('success'),
  data: t.Object({ ...carrierShape, history: t.Array(ParcelRow), metadata: SourceNote }),
  meta: PageMetaShape,
})

const serviceLevel = {
  service_level: textParameter('Only this service level, in any case; absent: all.', 'ground'),
}

/** Fuel surcharges of parcel carriers, by service level. */
export function parcelSurchargeOperations(deps: Context) {
  const { surcharges, catalogue, now } = deps
  const { today, marked, carrierOf, levelOf, requireSome, listAnswer, historyOf } =
    createSurchargeAnswers(deps)
  const parcel = (surcharge: Surcharge) =>
    parcelRow(surcharge, catalogue.resolve(surcharge.indexCode, now())?.series)

  return [
    operation('GET /v1/fuel-surcharge/parcel', {
      operationId: 'listParcelSurcharges',
      summary: 'List fuel surcharges of all parcel carriers',
      description: `Returns the current fuel surcharges of each parcel carrier by service level. Ground services follow on-highway diesel, air services the jet fuel price (mean of the week before).${delayed}`,
      access: { meter: true },
      query: serviceLevel,
      answers: { 200: envelope(listShape(ParcelRow)), ...refusals },
      handle: ({ query, reply }) => {
        const level = levelOf(query.service_level)
        const rows = surcharges
          .inForce('parcel', today())
          .filter(row => level === undefined || row.serviceLevel === level)
        return listAnswer(requireSome(rows, 'any parcel carrier'), parcel, reply)
      },
    }),
    operation('GET /v1/fuel-surcharge/parcel/:carrier/latest', {
      operationId: 'getParcelSurcharge',
      summary: 'Get the fuel surcharges of a parcel carrier',
      description: `Returns the current fuel surcharges of a parcel carrier by service level.${delayed}`,
      access: { meter: true },
      params: carrierParams('harbor').properties,
      query: serviceLevel,
      answers: envelopeOf({
        ...carrierShape,
        service_levels: t.Array(ParcelRow),
        metadata: SourceNote,
      }),
      handle: ({ params, query, reply }) => {
        const level = levelOf(query.service_level)
        const carrier = carrierOf('parcel', params.carrier)
        const rows = surcharges
          .inForce('parcel', today(), carrier)
          .filter(row => level === undefined || row.serviceLevel === level)
        const [first] = requireSome(rows, carrier)
        return success({
          carrier,
          carrier_name: first!.carrierName,
          service_levels: rows.map(parcel),
          metadata: marked(reply, rows),
        })
      },
    }),
    operation('GET /v1/fuel-surcharge/parcel/:carrier/history', {
      operationId: 'getParcelSurchargeHistory',
      summary: 'List historical fuel surcharges of a parcel carrier',
      description: 'Returns one entry per week and service level, newest effective date first.',
      access: { meter: true },
      params: carrierParams('harbor').properties,
      page: { max: deps.perPageMax },
      query: serviceLevel,
      answers: History,
      handle: ({ params, query, page, reply }) => {
        const level = levelOf(query.service_level)
        const carrier = carrierOf('parcel', params.carrier)
        const { rows, meta } = historyOf({ mode: 'parcel', carrier, serviceLevel: level }, page)
        const name = surcharges.inForce('parcel', today(), carrier)[0]?.carrierName ?? carrier
        return {
          ...success({
            carrier,
            carrier_name: name,
            history: rows.map(parcel),
            metadata: marked(reply, rows),
          }),
          meta,
        }
      },
    }),
  ]
}

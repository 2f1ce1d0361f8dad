import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { sourceDescription } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import type { Surcharge } from '../dataset/surcharges.ts'

const band = (description: string) =>
  t.Object(
    { min: t.Number({ examples: [3.7] }), max: t.Number({ examples: [3.75] }) },
    { description },
  )
const effectiveDate = t.date('Day from which the surcharge applies.', '2026-11-18')
const percent = t.number('Surcharge in percent of the freight charge.', 26)
const source = t.string(
  "Address of the carrier's published table.",
  'https://alder.example/fuel-surcharge',
)
const retrievedAt = t.instant(
  'When the table was last read. A delayed carrier is served as it was then.',
)

export const SurchargeRow = t.object('FuelSurcharge', {
  carrier: t.String({ examples: ['alder'] }),
  carrier_name: t.String({ examples: ['Alder Freight Lines'] }),
  mode: t.Literal('ltl'),
  surcharge_percent: percent,
  effective_date: effectiveDate,
  doe_diesel_price: t.number(
    'Government on-highway diesel price that gave the surcharge, in USD per gallon.',
    3.718,
  ),
  diesel_band: band('Band of the table with `min <= price < max`.'),
  source,
  retrieved_at: retrievedAt,
})

export const ParcelRow = t.object('ParcelSurcharge', {
  carrier: t.String({ examples: ['harbor'] }),
  carrier_name: t.String({ examples: ['Harbor Parcel'] }),
  mode: t.Literal('parcel'),
  service_level: t.String({ examples: ['ground'] }),
  service_name: t.String({ examples: ['Ground'] }),
  surcharge_percent: percent,
  effective_date: effectiveDate,
  index_name: t.String({ examples: ['US Retail Diesel'] }),
  index_price: t.number('Index price that gave the surcharge, in `index_unit`.', 3.718),
  index_unit: t.String({ examples: ['USD/gallon'] }),
  index_band: band('Band of the table with `min <= price < max`.'),
  doe_diesel_price: t.numberOrNull(
    'The index price where the index is on-highway diesel, otherwise null.',
    3.718,
  ),
  source,
  retrieved_at: retrievedAt,
})

export const SourceNote = t.Object({
  source_description: t.String({ examples: ["Read from the carriers' published tables"] }),
})

/** Where the surcharges of an answer come from. */
export const sourceNote = (rows: readonly Surcharge[]) => ({
  source_description: rows.some(row => row.fixture)
    ? sourceDescription('', true)
    : "Read from the carriers' published tables",
})

const bandRow = ({ bandMin, bandMax }: Surcharge) => ({ min: bandMin, max: bandMax })

export const surchargeRow = (surcharge: Surcharge) =>
  answerRow(SurchargeRow, surcharge, {
    mode: 'ltl',
    surcharge_percent: surcharge.percent,
    effective_date: surcharge.effectiveOn,
    doe_diesel_price: surcharge.indexPrice,
    diesel_band: bandRow(surcharge),
  })

/** `index` is undefined when the catalogue no longer has the code that the table was read at. */
export const parcelRow = (surcharge: Surcharge, index: Series | undefined) =>
  answerRow(ParcelRow, surcharge, {
    mode: 'parcel',
    surcharge_percent: surcharge.percent,
    effective_date: surcharge.effectiveOn,
    index_name: index?.name ?? surcharge.indexCode,
    index_unit: index?.currency ? `${index.currency}/${index.unit}` : (index?.unit ?? ''),
    index_band: bandRow(surcharge),
    doe_diesel_price:
      index?.category === 'retail_fuels' && index.code.startsWith('DIESEL_')
        ? surcharge.indexPrice
        : null,
  })

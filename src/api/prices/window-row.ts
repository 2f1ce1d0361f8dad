import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { PageMetaShape } from '../../http/input/page.ts'
import { isoDay, isoInstant } from '../../lib/instant.ts'
import { priceType } from '../../market/catalogue/catalogue.ts'
import { roundTo } from '../../market/prices/format.ts'
import type { HistoryRow } from '../../service/prices/history.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { carriesDay, Disclosure, formatted, priceRowFields, speaksForDays } from './row.ts'

const barFields = {
  bucket_start: t.Optional(
    t.String({
      format: 'date-time',
      description: 'Start of the UTC bucket; weeks start on Monday.',
    }),
  ),
  open: t.Optional(t.Number()),
  high: t.Optional(t.Number()),
  low: t.Optional(t.Number()),
  average: t.Optional(
    t.Number({ description: 'Arithmetic mean of the observations of the bucket.' }),
  ),
  sample_count: t.Optional(integer({ description: 'Observations in the bucket.' })),
}

export const WindowRow = t.Object(
  { ...priceRowFields, ...barFields },
  {
    title: 'WindowRow',
    description:
      'A price, or a bucket: then `price` and `created_at` are those of its last observation.',
  },
)

export const WindowBody = t.Object(
  {
    status: t.Literal('success'),
    data: t.Object({
      prices: t.Array(WindowRow),
      metadata: t.Object({
        codes: t.Array(t.String({ examples: ['WTI_USD'] })),
        interval: t.String({ examples: ['day'] }),
        interval_requested: t.Union([t.String(), t.Null()]),
        downsampled: t.Boolean({ description: 'Bars are served where raw rows were meant.' }),
        from: t.String({ format: 'date-time' }),
        to: t.String({ format: 'date-time' }),
        timezone: t.Literal('UTC'),
        count: integer({ description: 'Rows on this page.' }),
        source_description: t.String(),
        instrument_disclosures: t.Optional(t.Array(Disclosure)),
        quarantine: t.Optional(
          t.Object(
            {
              excluded_dates: t.Array(t.String({ format: 'date' })),
              excluded_count: integer(),
              reason: t.String(),
            },
            { description: 'Days left out because their data is known to be unreliable.' },
          ),
        ),
      }),
    }),
    meta: PageMetaShape,
  },
  { title: 'WindowedPrices' },
)

type Json = string

/** Writes the rows of one series as text; what all of them share is made once a page. */
export interface RowWriter {
  json(row: HistoryRow): Json
  csv(row: HistoryRow): string
}

export const csvHeader =
  'code,name,created_at,price,currency,unit,type,source,open,high,low,average,sample_count'

const csvCell = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A mean has two decimals more than the prices it is of. */
const averageDecimals = (series: Series) => series.decimals + 2

export function createRowWriter(series: Series): RowWriter {
  const type = priceType(series.category, series.unit)
  const withDay = carriesDay(series)
  const ofDays = speaksForDays(series)
  const head = `{"code":${JSON.stringify(series.code)},"name":${JSON.stringify(series.name)},"price":`
  const middle = `,"currency":${JSON.stringify(series.currency)},"unit":${JSON.stringify(series.unit)},"type":"${type}","source":${JSON.stringify(
    series.source,
  )},"data_source":${JSON.stringify(series.source)},"created_at":"`
  const csvTail = [series.currency ?? '', series.unit, type, series.source].map(csvCell).join(',')
  const round = (value: number) => roundTo(value, series.decimals)
  // Rows of one import share `recordedAt`, so its text is made once for all of them.
  let recorded = { at: Number.NaN, text: '' }
  const recordedText = (at: number) => {
    if (recorded.at !== at) recorded = { at, text: isoInstant(at) }
    return recorded.text
  }
  return {
    json(row) {
      const price = round(row.value)
      const day = withDay ? `","as_of":"${isoDay(row.observedAt)}` : ''
      const observedOn = ofDays ? `","observed_on":"${isoDay(row.observedAt)}` : ''
      const start = `${head}${price},"formatted":"${formatted(series, price)}"${middle}${isoInstant(row.observedAt)}${observedOn}","updated_at":"${recordedText(row.recordedAt)}${day}"`
      const { bar } = row
      if (!bar) return `${start}}`
      const average = roundTo(bar.sum / bar.count, averageDecimals(series))
      return `${start},"bucket_start":"${isoInstant(bar.startsAt)}","open":${round(bar.open)},"high":${round(bar.high)},"low":${round(bar.low)},"average":${average},"sample_count":${bar.count}}`
    },
    csv(row) {
      const start = `${csvCell(series.code)},${csvCell(series.name)},${isoInstant(row.observedAt)},${round(row.value)},${csvTail}`
      const { bar } = row
      if (!bar) return `${start},,,,,`
      const average = roundTo(bar.sum / bar.count, averageDecimals(series))
      return `${start},${round(bar.open)},${round(bar.high)},${round(bar.low)},${average},${bar.count}`
    },
  }
}

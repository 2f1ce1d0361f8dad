import { t } from '../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { csvCell } from '../../../lib/text/csv.ts'
import { type Piece, pieceOf, type TextBuffer } from '../../../lib/text/text-buffer.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { priceType } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { createPeriodFinder, periodAt } from '../../delivery/math/days.ts'
import { affixesOf, formatPrice, roundTo, unitsOf } from '../math/format.ts'
import type { Rate } from '../service/fx.ts'
import type { HistoryRow } from '../service/reads/history.ts'
import { conversionFields, conversionOf, isMoney } from './currency.ts'
import { rounder } from './precision.ts'
import {
  carriesDay,
  Disclosure,
  derivedFromField,
  formatted,
  priceRowFields,
  speaksForDays,
} from './row.ts'

const barFields = {
  delivery_end: t.Optional(
    t.instant('End of the period of a delivery series; `created_at` is its start.'),
  ),
  derived: t.Optional(t.Literal(true, { description: 'The mean of a day of `derived_from`.' })),
  derived_from: derivedFromField,
  bucket_start: t.Optional(
    t.instant('Start of the bucket, of UTC or of `zone`; weeks start on Monday.'),
  ),
  open: t.Optional(t.Number()),
  high: t.Optional(t.Number()),
  low: t.Optional(t.Number()),
  average: t.Optional(t.number('Arithmetic mean of the observations of the bucket.')),
  sample_count: t.Optional(t.integer('Observations in the bucket.')),
}

/** Fields of rows in another currency. */
const exchangeFields = {
  original_price: t.Optional(conversionFields.original_price),
  original_currency: t.Optional(conversionFields.original_currency),
  original_unit: t.Optional(conversionFields.original_unit),
  fx_rate: t.Optional(conversionFields.fx_rate),
  fx_on: t.Optional(
    t.date('Day of the close used for the rate; the oldest for a cross rate.', '2026-11-13'),
  ),
}

export const WindowRow = t.Object(
  { ...priceRowFields, ...barFields, ...exchangeFields },
  {
    title: 'WindowRow',
    description:
      'A price, or a bucket: then `price` and `created_at` are those of its last observation.',
  },
)

export const quarantineField = t.Optional(
  t.Object(
    {
      excluded_dates: t.Array(t.String({ format: 'date' })),
      excluded_count: t.integer(),
      reason: t.String(),
    },
    { description: 'Quarantined days, which are left out.' },
  ),
)

export const WindowBody = t.object('WindowedPrices', {
  status: t.Literal('success'),
  data: t.Object({
    prices: t.Array(WindowRow),
    metadata: t.Object({
      codes: t.Array(t.String({ examples: ['WTI_USD'] })),
      interval: t.String({ examples: ['day'] }),
      interval_requested: t.orNull(t.String()),
      downsampled: t.boolean(
        'Warns that bars are returned although raw rows were likely intended.',
      ),
      from: t.String({ format: 'date-time' }),
      to: t.String({ format: 'date-time' }),
      timezone: t.string('Time zone of days and bars; UTC unless `zone` is given.', 'UTC'),
      count: t.integer('Rows on this page.'),
      missing_codes: t.Optional(
        t.Array(t.String(), { description: 'Codes without a price, and unknown ones.' }),
      ),
      suggestions: t.Optional(
        t.Array(t.String(), {
          description: 'Codes with a price that a requested alias without one may mean.',
        }),
      ),
      source_description: t.string(
        'Of the sources of the rows; without rows, of the source of the code.',
        'Published by EIA',
      ),
      instrument_disclosures: t.Optional(t.Array(Disclosure)),
      quarantine: quarantineField,
    }),
  }),
  meta: PageMetaShape,
})

/** Writes the rows of one series as text; what all of them share is made once a page. */
export interface RowWriter {
  json(row: HistoryRow, out: TextBuffer): void
  csv(row: HistoryRow): string
}

const csvColumns =
  'code,name,created_at,price,currency,unit,type,source,open,high,low,average,sample_count'
const exchangeColumns = ',original_price,original_currency,original_unit,fx_rate,fx_on'
/** The first line of a table; rows in another currency have columns for the original one. */
export const csvHeader = (isConverted: boolean): string =>
  isConverted ? csvColumns + exchangeColumns : csvColumns

/** The form of rows in responses. */
export interface RowOptions {
  /** With every stored digit. */
  isFull: boolean
  /** The currency of money, each row at the rate of its day. */
  currency?: string
  /** The source of a row's value. */
  sourceOf(row: HistoryRow): string
  /** Code of the delivery periods that a row is the mean of. */
  derivedFrom?(row: HistoryRow): string | undefined
  /** From a currency on the day of a moment; refuses where there is none. */
  rateOn(from: string, at: number): Rate
}

/** A mean has two decimals more than the prices it is of. */
const averageDecimals = (series: Series) => series.decimals + 2

export function createRowWriter(series: Series, options: RowOptions): RowWriter {
  if (options.currency === undefined) return ownCurrencyWriter(series, options)
  return isMoney(series)
    ? convertedWriter(series, options.currency, options)
    : unconvertedWriter(series, options)
}

/** Writes rows of series without a currency among rows that are converted. */
function unconvertedWriter(series: Series, options: RowOptions): RowWriter {
  const { json, csv } = ownCurrencyWriter(series, options)
  return { json, csv: row => `${csv(row)}${exchangeColumns.replaceAll(/[^,]/g, '')}` }
}

function convertedWriter(
  series: Series & { currency: string },
  currency: string,
  { isFull, sourceOf, derivedFrom, rateOn }: RowOptions,
): RowWriter {
  const shown = rounder(isFull)
  const type = priceType(series.category, series.unit)
  const valuesOf = (row: HistoryRow) => {
    const { rate, asOf } = rateOn(series.currency, row.observedAt)
    const { unit, decimals, exact } = conversionOf(series, series.unit, rate)
    const price = shown(exact(row.value), decimals)
    const { bar } = row
    return {
      price,
      formatted: formatPrice(roundTo(price, decimals), decimals, currency, unit, false),
      currency,
      unit,
      original_price: shown(row.value, series.decimals),
      original_currency: series.currency,
      original_unit: series.unit,
      fx_rate: rate,
      fx_on: isoDay(asOf),
      bar: bar && {
        bucket_start: isoInstant(bar.startsAt),
        open: shown(exact(bar.open), decimals),
        high: shown(exact(bar.high), decimals),
        low: shown(exact(bar.low), decimals),
        average: shown(exact(bar.sum / bar.count), decimals + 2),
        sample_count: bar.count,
      },
    }
  }
  return {
    json(row, out) {
      const { price, bar, formatted: text, ...rest } = valuesOf(row)
      const leg = derivedFrom?.(row)
      const fields = {
        code: series.code,
        name: series.name,
        price,
        formatted: text,
        currency: rest.currency,
        unit: rest.unit,
        type,
        ...(leg !== undefined && { derived: true, derived_from: leg }),
        source: sourceOf(row),
        data_source: sourceOf(row),
        created_at: isoInstant(row.observedAt),
        ...(series.delivery &&
          !bar && { delivery_end: isoInstant(periodAt(series.delivery, row.observedAt).end) }),
        ...(speaksForDays(series) && { observed_on: isoDay(row.observedAt) }),
        updated_at: isoInstant(row.recordedAt),
        ...(carriesDay(series) && { as_of: isoDay(row.observedAt) }),
        ...bar,
        original_price: rest.original_price,
        original_currency: rest.original_currency,
        original_unit: rest.original_unit,
        fx_rate: rest.fx_rate,
        fx_on: rest.fx_on,
      }
      out.text(JSON.stringify(fields))
    },
    csv(row) {
      const { bar, ...values } = valuesOf(row)
      const cells = [
        series.code,
        series.name,
        isoInstant(row.observedAt),
        values.price,
        currency,
        values.unit,
        type,
        sourceOf(row),
        bar?.open,
        bar?.high,
        bar?.low,
        bar?.average,
        bar?.sample_count,
        values.original_price,
        values.original_currency,
        values.original_unit,
        values.fx_rate,
        values.fx_on,
      ]
      return cells.map(cell => csvCell(cell ?? null)).join(',')
    },
  }
}

/** Units of more places may be numbers that JavaScript writes with an exponent. */
const plainDecimalsMax = 6

const fieldPieces = {
  formatted: pieceOf(',"formatted":"'),
  formattedMinus: pieceOf(',"formatted":"-'),
  deliveryEnd: pieceOf('","delivery_end":"'),
  observedOn: pieceOf('","observed_on":"'),
  bucketStart: pieceOf('","bucket_start":"'),
  open: pieceOf('","open":'),
  high: pieceOf(',"high":'),
  low: pieceOf(',"low":'),
  average: pieceOf(',"average":'),
  sampleCount: pieceOf(',"sample_count":'),
  end: pieceOf('"}'),
  barEnd: pieceOf('}'),
}

const fieldTexts = {
  updatedAt: '","updated_at":"',
  asOf: '","as_of":"',
  bucketStart: '","bucket_start":"',
  end: '"}',
}

function ownCurrencyWriter(
  series: Series,
  { isFull, sourceOf, derivedFrom }: Omit<RowOptions, 'currency' | 'rateOn'>,
): RowWriter {
  const { decimals } = series
  const shown = rounder(isFull)
  const type = priceType(series.category, series.unit)
  const withDay = carriesDay(series)
  const ofDays = speaksForDays(series)
  const periods = series.delivery && createPeriodFinder(series.delivery)
  const affixes = affixesOf(series.currency, series.unit, type === 'fx_rate')
  const before = pieceOf(affixes.before)
  const formattedBefore = pieceOf(`,"formatted":"${affixes.before}`)
  const head = pieceOf(
    `{"code":${JSON.stringify(series.code)},"name":${JSON.stringify(series.name)},"price":`,
  )
  const unitText = `","currency":${JSON.stringify(series.currency)},"unit":${JSON.stringify(series.unit)},"type":"${type}"`
  const unitCells = [series.currency ?? '', series.unit, type].map(csvCell).join(',')
  // Most rows of a page are of one source.
  let last: { name: string; leg: string | undefined; middle: Piece; csvTail: string } | undefined
  const sourceTexts = (row: HistoryRow) => {
    const name = sourceOf(row)
    const leg = derivedFrom?.(row)
    if (last?.name !== name || last.leg !== leg) {
      const text = JSON.stringify(name)
      const derived = leg === undefined ? '' : `,"derived":true,"derived_from":"${leg}"`
      const middle = `${affixes.after}${unitText}${derived},"source":${text},"data_source":${text},"created_at":"`
      last = { name, leg, middle: pieceOf(middle), csvTail: `${unitCells},${csvCell(name)}` }
    }
    return last
  }
  const round = (value: number) => shown(value, decimals)
  const number = (out: TextBuffer, value: number, places = decimals) => {
    const units = isFull || places > plainDecimalsMax ? undefined : unitsOf(value, places)
    if (units === undefined) out.text(String(shown(value, places)))
    else out.decimal(units, places)
  }
  const isPlain = !isFull && decimals <= plainDecimalsMax
  /** The number of a price, and its text for people up to what stands after its number. */
  const price = (out: TextBuffer, value: number) => {
    const units = unitsOf(value, decimals)
    if (units === undefined || !isPlain) out.text(String(shown(value, decimals)))
    else out.decimal(units, decimals)
    if (units === undefined) {
      out.piece(fieldPieces.formatted)
      const text = formatted(series, roundTo(value, decimals))
      out.text(text.slice(0, text.length - affixes.after.length))
      return
    }
    if (units < 0) {
      out.piece(fieldPieces.formattedMinus)
      out.piece(before)
    } else out.piece(formattedBefore)
    out.grouped(units, decimals)
  }
  /** From the moment of recording to the field after it; many rows of a page have the same. */
  const recorded = { at: Number.NaN, text: undefined as Piece | undefined }
  const updatedAt = (out: TextBuffer, { recordedAt, bar }: HistoryRow) => {
    const next = withDay ? fieldTexts.asOf : bar ? fieldTexts.bucketStart : fieldTexts.end
    if (recorded.at === recordedAt) {
      recorded.text ??= pieceOf(`${fieldTexts.updatedAt}${isoInstant(recordedAt)}${next}`)
      out.piece(recorded.text)
      return
    }
    recorded.at = recordedAt
    recorded.text = undefined
    out.text(fieldTexts.updatedAt)
    out.instant(recordedAt)
    out.text(next)
  }
  return {
    json(row, out) {
      const { observedAt, bar } = row
      out.piece(head)
      price(out, row.value)
      out.piece(sourceTexts(row).middle)
      out.instant(observedAt)
      if (periods && !bar) {
        out.piece(fieldPieces.deliveryEnd)
        out.instant(periods.at(observedAt).end)
      }
      if (ofDays) {
        out.piece(fieldPieces.observedOn)
        out.isoDay(observedAt)
      }
      updatedAt(out, row)
      if (withDay) {
        out.isoDay(observedAt)
        out.piece(bar ? fieldPieces.bucketStart : fieldPieces.end)
      }
      if (!bar) return
      out.instant(bar.startsAt)
      out.piece(fieldPieces.open)
      number(out, bar.open)
      out.piece(fieldPieces.high)
      number(out, bar.high)
      out.piece(fieldPieces.low)
      number(out, bar.low)
      out.piece(fieldPieces.average)
      number(out, bar.sum / bar.count, averageDecimals(series))
      out.piece(fieldPieces.sampleCount)
      out.integer(bar.count)
      out.piece(fieldPieces.barEnd)
    },
    csv(row) {
      const start = `${csvCell(series.code)},${csvCell(series.name)},${isoInstant(row.observedAt)},${round(row.value)},${sourceTexts(row).csvTail}`
      const { bar } = row
      if (!bar) return `${start},,,,,`
      const average = shown(bar.sum / bar.count, averageDecimals(series))
      return `${start},${round(bar.open)},${round(bar.high)},${round(bar.low)},${average},${bar.count}`
    },
  }
}

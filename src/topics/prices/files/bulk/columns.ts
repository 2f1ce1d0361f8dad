import { createPeriodFinder } from '../../../delivery/math/days.ts'
import type { BlockBars, BlockSeries, PriceBlock, RowTexts } from '../../math/block.ts'

/**
 * A column of an export: a number for each row, or one text for all rows of a series unless
 * `ofRows` has one for each. `all`: every text that rows of a series may have.
 */
export type BulkColumn =
  | {
      name: string
      kind: 'text'
      of(series: BlockSeries): string | null
      ofRows?(block: PriceBlock): RowTexts | undefined
      all?(series: BlockSeries): readonly string[]
    }
  | { name: string; kind: 'instant' | 'number' | 'count'; of(block: PriceBlock): Float64Array }

const text = (name: Exclude<keyof BlockSeries, 'sources' | 'delivery'>): BulkColumn => ({
  name,
  kind: 'text',
  of: series => series[name],
})
const ofBars = (
  name: string,
  kind: 'instant' | 'number' | 'count',
  field: keyof BlockBars,
): BulkColumn => ({ name, kind, of: block => block.bars![field] })

const always: readonly BulkColumn[] = [
  text('code'),
  { name: 'observed_at', kind: 'instant', of: block => block.observedAt },
  { name: 'price', kind: 'number', of: block => block.value },
  text('currency'),
  text('unit'),
  { name: 'recorded_at', kind: 'instant', of: block => block.recordedAt },
  text('name'),
  {
    name: 'source',
    kind: 'text',
    of: series => series.source,
    ofRows: block => block.sources,
    all: series => series.sources,
  },
  { name: 'zone', kind: 'text', of: ({ delivery }) => delivery?.zone ?? null },
]
/** Columns of series of delivery periods alone. */
const onlyDelivery: readonly BulkColumn[] = [
  { name: 'delivery_end', kind: 'instant', of: deliveryEnds },
]
const onlyBars: readonly BulkColumn[] = [
  ofBars('bucket_start', 'instant', 'startsAt'),
  ofBars('open', 'number', 'open'),
  ofBars('high', 'number', 'high'),
  ofBars('low', 'number', 'low'),
  ofBars('average', 'number', 'average'),
  ofBars('sample_count', 'count', 'count'),
]

const usual = ['code', 'observed_at', 'price', 'currency', 'unit']
const usualOfBars = [...usual, 'open', 'high', 'low']

function deliveryEnds({ series, observedAt, length }: PriceBlock): Float64Array {
  const finder = createPeriodFinder(series.delivery!)
  return observedAt.slice(0, length).map(at => finder.at(at).end)
}

/** The names that may be requested: bars have more, and series of delivery periods. */
export const namesFor = (isBars: boolean, isDelivery: boolean): readonly string[] =>
  [...always, ...(isDelivery ? onlyDelivery : []), ...(isBars ? onlyBars : [])].map(
    ({ name }) => name,
  )

/** The columns of these names, in their order; without names the usual ones. */
export function columnsOf(names: readonly string[], isBars: boolean): readonly BulkColumn[] {
  const wanted = names.length > 0 ? names : isBars ? usualOfBars : usual
  const all = [...always, ...onlyDelivery, ...onlyBars]
  return wanted.map(name => all.find(column => column.name === name)!)
}

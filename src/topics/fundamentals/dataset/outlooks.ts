import { day, derived, text } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededNumber, neededText, refuse, seriesNamed } from '../../../datasets/fields.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, parsePeriod } from '../../calendars/math/period.ts'
import { boundsOf } from '../../catalogue/math/terms.ts'

/** Series of the agency's short-term outlook that are the same thing in the same unit. */
const agencySeries: Readonly<Record<string, string>> = {
  BREPUUS: 'BRENT_CRUDE_USD',
  WTIPUUS: 'WTI_USD',
  NGHHUUS: 'NATURAL_GAS_USD',
  COPRPUS: 'US_CRUDE_PRODUCTION',
}

const monthsAheadMax = 120
const sourcePattern = /^[\p{L}\d][\p{L}\d .,&()-]{0,39}$/u

const columns = {
  source: text(
    'Publisher of the forecast: EIA, IEA or another name',
    'write the publisher of the forecast, such as EIA',
    40,
  ),
  seriesId: {
    name: 'commodity',
    required: true,
    description:
      'Code or alias, or a series of the short-term outlook: BREPUUS, WTIPUUS, NGHHUUS, COPRPUS',
    isSeries: true,
  } as Column<number>,
  period: text(
    'Forecast month or quarter, `2026-12` or `2026-Q4`',
    'write a month or quarter, such as 2026-12 or 2026-Q4',
  ),
  /** In the unit of the series. */
  value: {
    required: true,
    description: 'The forecast, in the currency and unit of the code',
  } as Column<number>,
  publishedOn: day('Day of the publication'),
  /** Last day of the period. */
  targetOn: derived<string>(),
  fixture: derived<boolean>({ isFlag: true }),
}

/** An agency's forecast of a series for a month or quarter. */
export type Outlook = RecordOf<typeof columns>

export const outlooks = dataset({
  name: 'outlooks',
  feature: 'energy_intelligence',
  description:
    'Forecasts of agencies: the expected value of a code in a month or quarter, in the unit of the code. Actual values are those of the series.',
  table: 'outlook_forecasts',
  columns,
  key: ['source', 'seriesId', 'period', 'publishedOn'],
  time: 'publishedOn',
  numberedBy: 'publishedOn',
  where: 't.fixture = 0',
  order: 't.id',
  revisions: true,
  checks: { cadence: 'monthly', columns: { value: { mayRepeat: true } } },
  example:
    'source,commodity,period,value,published_on\nEIA,BRENT_CRUDE_USD,2026-12,71.5,2026-11-03\nIEA,BRENT_CRUDE_USD,2026-Q4,70.2,2026-11-12\n',
  read(row, read, { now, catalogue }): Outlook {
    const code = neededText(
      row,
      'commodity',
      'write a code of the catalogue, such as BRENT_CRUDE_USD',
    )
    const series = seriesNamed(agencySeries[code.toUpperCase()] ?? code, 'commodity', catalogue)
    const periodText = read.period()
    const period =
      parsePeriod(periodText) ??
      refuse('period', periodText, 'is not a month or quarter', 'write 2026-12 or 2026-Q4')
    const publishedOn = read.publishedOn()
    const last = monthAfter(monthOf(isoDay(now)), monthsAheadMax)
    if (period.months[0]! > last || period.firstOn < '1900')
      refuse('period', periodText, 'is out of range', `write one up to ${last}`)
    const { min, max } = boundsOf(series)
    const source = read.source()
    if (!sourcePattern.test(source))
      refuse('source', source, 'is not a name', 'write letters and digits, at most 40 characters')
    return {
      source: /^(eia|iea)$/i.test(source) ? source.toUpperCase() : source,
      seriesId: series.id,
      period: period.text,
      value: neededNumber(row, 'value', min, Number(max.toPrecision(12))),
      publishedOn,
      targetOn: period.lastOn,
      fixture: false,
    }
  },
})

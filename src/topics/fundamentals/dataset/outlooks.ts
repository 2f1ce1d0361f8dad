import {
  checked,
  neededNumber,
  neededPastDay,
  neededText,
  refuse,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf, parsePeriod } from '../../calendars/math/period.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import { boundsOf } from '../../catalogue/math/terms.ts'
import type { Outlook, OutlookStore } from '../store/outlooks.ts'

/** Series of the agency's short-term outlook that are the same thing in the same unit. */
const agencySeries: Readonly<Record<string, string>> = {
  BREPUUS: 'BRENT_CRUDE_USD',
  WTIPUUS: 'WTI_USD',
  NGHHUUS: 'NATURAL_GAS_USD',
  COPRPUS: 'US_CRUDE_PRODUCTION',
}

const monthsAheadMax = 120
const sourcePattern = /^[\p{L}\d][\p{L}\d .,&()-]{0,39}$/u

export function createOutlooksDataset(
  store: OutlookStore,
  catalogue: CodeLookup,
): Dataset<Outlook> {
  const codeById = new Map<number, string>()
  return {
    name: 'outlooks',
    description:
      'Forecasts as agencies publish them: what a code of the catalogue is expected to be in a month or quarter, in its unit. Actual values are those of the series.',
    columns: [
      { name: 'source', required: true, description: 'Who forecasts: EIA, IEA or another name' },
      {
        name: 'commodity',
        required: true,
        description:
          'Code or alias, or a series of the short-term outlook: BREPUUS, WTIPUUS, NGHHUUS, COPRPUS',
      },
      {
        name: 'period',
        required: true,
        description: 'Month or quarter that is forecast, `2026-12` or `2026-Q4`',
      },
      {
        name: 'value',
        required: true,
        description: 'The forecast, in the currency and unit of the code',
      },
      { name: 'published_on', required: true, description: 'Day of the publication' },
    ],
    example:
      'source,commodity,period,value,published_on\nEIA,BRENT_CRUDE_USD,2026-12,71.5,2026-11-03\nIEA,BRENT_CRUDE_USD,2026-Q4,70.2,2026-11-12\n',
    key: ['source', 'commodity', 'period', 'published_on'],
    check: (row, now) =>
      checked(() => {
        const code = neededText(
          row,
          'commodity',
          'write a code of the catalogue, such as BRENT_CRUDE_USD',
        )
        const series = catalogue.find(agencySeries[code.toUpperCase()] ?? code)
        if (!series) {
          const near = catalogue.nearest(code)
          refuse(
            'commodity',
            code,
            'is not in the catalogue',
            near ? `did you mean ${near}?` : 'wellhead codes search WORD finds the codes',
          )
        }
        const periodText = neededText(
          row,
          'period',
          'write a month or quarter, such as 2026-12 or 2026-Q4',
        )
        const period =
          parsePeriod(periodText) ??
          refuse('period', periodText, 'is not a month or quarter', 'write 2026-12 or 2026-Q4')
        const publishedOn = neededPastDay(row, 'published_on', now)
        const last = monthAfter(monthOf(isoDay(now)), monthsAheadMax)
        if (period.months[0]! > last || period.firstOn < '1900')
          refuse('period', periodText, 'is out of range', `write one up to ${last}`)
        const { min, max } = boundsOf(series)
        const source = neededText(row, 'source', 'write who forecasts, such as EIA', 40)
        if (!sourcePattern.test(source))
          refuse(
            'source',
            source,
            'is not a name',
            'write letters and digits, at most 40 characters',
          )
        codeById.set(series.id, series.code)
        return {
          source: /^(eia|iea)$/i.test(source) ? source.toUpperCase() : source,
          seriesId: series.id,
          period: period.text,
          value: neededNumber(row, 'value', min, Number(max.toPrecision(12))),
          publishedOn,
          targetOn: period.lastOn,
          fixture: false,
        }
      }),
    guarded: {
      cadence: 'monthly',
      time: 'published_on',
      columns: { value: { mayRepeat: true } },
      numbersOf: ({ source, seriesId, period, publishedOn, value }) => [
        {
          line: { source, commodity: codeById.get(seriesId)!, period },
          time: publishedOn,
          values: { value },
        },
      ],
    },
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { Empty, NoData, Refused, Waiting } from '../parts/bits.tsx'
import { Copy } from '../parts/buttons.tsx'
import { KnownOn } from '../parts/charts/known-on.tsx'
import { Choice, Select } from '../parts/fields.tsx'
import { below, later } from '../parts/later.tsx'
import { Members, Page } from '../parts/page.tsx'
import { has } from '../parts/person/account.ts'
import { dataOf, useData, useLoaded } from '../parts/requests/ask.ts'
import { dayAgo, now } from '../parts/requests/boot.ts'
import { chartPath, daysOf, ranges } from '../parts/requests/chart-path.ts'
import {
  areCodesHere,
  codes,
  loadCodes,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../parts/requests/codes.ts'
import { seriesLink } from '../parts/tables/columns.tsx'
import { bound } from '../parts/text/form.ts'
import { unitOf, words } from '../parts/text/format.ts'
import { Catalogue } from './catalogue.tsx'
import { type ChartAnswer, isPrice } from './series/answer.ts'
import { Drawn } from './series/drawn.tsx'
import { type Note, useNotes } from './series/events.tsx'
import { Quote } from './series/quote.tsx'

const Formulas = later(() => import('./series/formulas.tsx').then(page => page.Formulas))

const Details = below(() => import('./series/details.tsx').then(part => part.Details))

const noNotes: readonly Note[] = []

const intervals = [
  { value: '', text: 'Auto' },
  { value: 'hour', text: 'Hour' },
  { value: 'day', text: 'Day' },
  { value: 'week', text: 'Week' },
  { value: 'month', text: 'Month' },
] as const

/** Intervals that are finer than the values of a series would show each of them alone. */
function intervalsOf(cadence: string | undefined) {
  const tooFine =
    cadence === 'monthly'
      ? ['hour', 'day', 'week']
      : cadence === 'weekly'
        ? ['hour', 'day']
        : cadence === 'daily'
          ? ['hour']
          : []
  return intervals.filter(({ value }) => !tooFine.includes(value))
}

const indicatorsOf = (values: string) => [
  { value: '', text: 'No indicator' },
  { value: 'sma', text: `Moving average, 20 ${values}` },
  { value: 'ema', text: `Exponential average, 20 ${values}` },
  { value: 'bollinger', text: `Bollinger bands, 20 ${values}, 2 σ` },
  { value: 'rsi', text: 'Relative strength, 14 changes' },
]

export function Series() {
  const { params } = useRoute()
  return (
    <Members
      title="Series"
      about="Every series with its chart, full history and revisions. Compare series, add indicators, and see prices as they were known on any day."
    >
      {() =>
        params.code === 'formulas' ? (
          <Formulas />
        ) : params.code ? (
          <One key={params.code} code={params.code} />
        ) : (
          <All />
        )
      }
    </Members>
  )
}

/** The list of all codes, filtered by the typed text. */
function All() {
  const typed = useSignal('')
  const refusal = useSignal<Error | undefined>(undefined)
  useEffect(() => {
    loadCodes().catch(error => {
      refusal.value = error as Error
    })
  }, [])
  const isSearch = typed.value !== ''
  const matches = isSearch ? matchingCodes(typed.value, 60) : codes.value
  const near = matches.length === 0 ? nearCodes(typed.value, 3) : []
  return (
    <Page
      title="Series"
      about={`${codes.value.length} series with data.`}
      actions={
        <a class="button" href="/series/formulas">
          Formulas
        </a>
      }
    >
      <label style={{ maxWidth: '28rem' }}>
        Find
        <input type="search" placeholder="Brent, Henry Hub, jet fuel …" {...bound(typed)} />
      </label>
      {refusal.value && <Refused error={refusal.value} />}
      {!areCodesHere.value && !refusal.value && <Waiting what="codes" />}
      {areCodesHere.value && codes.value.length === 0 && <NoData text="No prices yet." />}
      {codes.value.length > 0 && matches.length === 0 && (
        <section class="card">
          <Empty>
            No results.
            {near.length > 0 && ' Did you mean '}
            {near.map(({ code, name }, i) => (
              <>
                {i > 0 && ', '}
                {seriesLink(code, name)}
              </>
            ))}
            {near.length > 0 && '?'}
          </Empty>
        </section>
      )}
      {matches.length > 0 && <Catalogue codes={matches} isSearch={isSearch} />}
    </Page>
  )
}

/** The displayed view, kept in the address so that it can be shared. */
function useView() {
  const { path, query, route } = useLocation()
  const set = (change: Record<string, string>) => {
    const next = new URLSearchParams(query)
    for (const [name, value] of Object.entries(change))
      if (value === '') next.delete(name)
      else next.set(name, value)
    const text = next.toString()
    route(text === '' ? path : `${path}?${text}`, true)
  }
  return { query, set }
}

/** The prices of the range as a file, without the limits of a chart. */
const exportOf = (code: string, query: Record<string, string>, format: string): string =>
  `/v1/export/prices?${new URLSearchParams({
    codes: code,
    start_date: dayAgo(daysOf(query)),
    format,
    ...(query.interval ? { interval: query.interval } : {}),
    ...(query.as_of ? { as_of: `${query.as_of}T23:59:59Z` } : {}),
  })}`

function One({ code }: { code: string }) {
  const { query, set } = useView()
  const type = query.type ?? 'line'
  const path = chartPath(code, query, now())
  const answer = useData<ChartAnswer>(path)
  const others = (query.compare ?? '').split(',').filter(Boolean)
  const comparePaths = others.map(other => chartPath(other, { ...query, type: 'line' }, now()))
  const compared = useLoaded(comparePaths.length > 0 ? comparePaths.join(' ') : undefined, signal =>
    Promise.all(comparePaths.map(path => dataOf<ChartAnswer>(path, { signal }))),
  )
  const data = answer.data
  const notes = useNotes(data)
  return (
    <Page
      title={data?.name ?? code}
      about={
        data ? (
          <>
            <span class="code">{data.code}</span> · {unitOf(data.currency, data.unit)} ·{' '}
            {words(data.category)}
          </>
        ) : (
          <span class="code">{code}</span>
        )
      }
      actions={
        <>
          <a class="button" href={`/alerts/new?code=${encodeURIComponent(code)}`}>
            Add alert
          </a>
          {has('bulk_export') &&
            (['csv', 'parquet'] as const).map(format => (
              <a
                class={`button ${format === 'csv' ? '' : 'wide-only'}`}
                key={format}
                rel="external"
                download={`${code}.${format}`}
                href={exportOf(code, query, format)}
              >
                {format === 'csv' ? 'Export CSV' : 'Export Parquet'}
              </a>
            ))}
          <Copy text={() => location.href} label="Copy link" />
        </>
      }
    >
      {data && data.times.length > 0 && <Quote data={data} />}
      <section class="card chart-card" aria-label="Chart">
        <div class="row spread">
          <Choice
            label="Range"
            value={query.range ?? '1y'}
            options={ranges}
            onChoose={range => set({ range, zoom: '' })}
          />
          <div class="row">
            <Choice
              label="Interval"
              value={query.interval ?? ''}
              options={intervalsOf(data?.cadence)}
              onChoose={interval => set({ interval })}
            />
            {(!data || isPrice(data)) && (
              <Choice
                label="Drawn as"
                value={type}
                options={[
                  { value: 'line', text: 'Line' },
                  { value: 'candles', text: 'Candles' },
                ]}
                onChoose={next => set({ type: next === 'line' ? '' : next })}
              />
            )}
            <Choice
              label="Scale"
              value={query.scale ?? 'linear'}
              options={[
                { value: 'linear', text: 'Linear' },
                { value: 'log', text: 'Log' },
                { value: 'index', text: 'Index 100' },
                ...(others.length > 0
                  ? [
                      { value: 'spread', text: 'Spread' },
                      { value: 'ratio', text: 'Ratio' },
                    ]
                  : []),
              ]}
              onChoose={next => set({ scale: next === 'linear' ? '' : next })}
            />
          </div>
        </div>
        {answer.refusal && <Refused error={answer.refusal} />}
        {compared.refusal && <Refused error={compared.refusal} />}
        {data ? (
          <Drawn
            data={data}
            others={others.length > 0 ? (compared.data ?? []) : []}
            type={isPrice(data) ? type : 'line'}
            isAuto={!query.interval}
            scale={query.scale ?? 'linear'}
            onIndex={() => set({ scale: 'index' })}
            indicator={query.indicator ?? ''}
            notes={notes.rows ?? noNotes}
            zoom={query.zoom}
          />
        ) : (
          answer.isLoading && <Waiting what="prices" />
        )}
        <div class="row under-chart">
          {has('analytics') && (
            <Select
              label={<span class="only-heard">Indicator</span>}
              class="tight"
              of={indicatorsOf(data && !isPrice(data) ? 'values' : 'daily closes')}
              value={query.indicator ?? ''}
              onChange={event => set({ indicator: event.currentTarget.value })}
            />
          )}
          <Compare
            code={code}
            others={others}
            onChange={next => set({ compare: next.join(',') })}
          />
          <KnownOn
            value={query.as_of ?? ''}
            onChange={as_of => set({ as_of })}
            shown={answer.data}
          />
        </div>
      </section>
      {data && data.times.length > 0 && (
        <Details
          data={data}
          path={path}
          notes={notes}
          tab={query.tab ?? ''}
          onTab={tab => set({ tab })}
        />
      )}
    </Page>
  )
}

const comparedMax = 4

function Compare({
  code,
  others,
  onChange,
}: {
  code: string
  others: string[]
  onChange: (others: string[]) => void
}) {
  const typed = useSignal('')
  const add = () => {
    const exact = codes.value.find(known => known.code === typed.value.toUpperCase())
    if (!exact || others.includes(exact.code) || exact.code === code) return
    onChange([...others, exact.code])
    typed.value = ''
  }
  const near = matchingCodes(typed.value, 6).filter(
    found => found.code !== code && !others.includes(found.code),
  )
  return (
    <div class="row">
      <label>
        <span class="only-heard">Compare with</span>
        <input
          type="search"
          class="tight"
          list="near"
          placeholder="Compare with …"
          value={typed.value}
          disabled={others.length >= comparedMax}
          onFocus={wantCodes}
          onInput={event => {
            typed.value = event.currentTarget.value
            void loadCodes().then(add, () => undefined)
          }}
        />
        <datalist id="near">
          {near.map(({ code: other, name }) => (
            <option key={other} value={other}>
              {name}
            </option>
          ))}
        </datalist>
      </label>
      {others.map(other => (
        <button
          type="button"
          key={other}
          class="tight"
          aria-label={`Stop comparing with ${other}`}
          onClick={() => onChange(others.filter(kept => kept !== other))}
        >
          {other} ×
        </button>
      ))}
    </div>
  )
}

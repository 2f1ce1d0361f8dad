import { dayMs } from '../../lib/time/instant.ts'
import type { Futures } from '../../topics/futures/operations/futures.ts'
import type { BoardRow } from '../../topics/prices/operations/board.ts'
import { Empty, NoData, Refused, Tag } from '../parts/bits.tsx'
import { MiniLines } from '../parts/charts/mini-lines.tsx'
import { QuoteTile, type Year } from '../parts/charts/quote-tile.tsx'
import { Members, Page } from '../parts/page.tsx'
import { has } from '../parts/person/account.ts'
import {
  dataOf,
  type Loaded,
  useAnswer,
  useData,
  useFirstView,
  useLoaded,
  whereThere,
} from '../parts/requests/ask.ts'
import { boot, now } from '../parts/requests/boot.ts'
import { boardPath } from '../parts/requests/first.ts'
import { type Change, Move } from '../parts/tables/move.tsx'
import { digitsOf, priceColumns, priceFileColumns } from '../parts/tables/price-columns.tsx'
import { Table } from '../parts/tables/table.tsx'
import { decimalsOf, number, orDash, signed, words } from '../parts/text/format.ts'
import { Releases, Triggers } from './market/dates.tsx'
import { codesOf, type Layout, Layouts, useLayouts } from './market/layouts.tsx'
import { type Briefed, forecastRanges } from './market/ranges.ts'
import { hasSpreads, SpreadsNow } from './market/spreads.tsx'
import { gasStocks, StocksNow } from './market/stocks.tsx'
import { ages, hasCurve, quotedFamilies, useCurves } from './markets/curves.ts'
import type { Note } from './series/events.tsx'

/** The morning: everything that a desk reads first, on one screen. */
export function Market() {
  return (
    <Members
      title="Market"
      about="Your watchlist with its largest moves first, forward curves, stocks against five years, spreads and this week’s releases on one screen."
    >
      {() => <Morning />}
    </Members>
  )
}

interface Metric extends Year {
  code: string
}

interface Watched extends BoardRow, Reason {
  year: Metric | undefined
  /** The move in standard deviations of the daily moves of a month. */
  deviations: number | null
  /** The latest note about it within the last days. */
  event: Note | undefined
}

const metricsMax = 20

/** The rows of a watchlist, and what explains their moves as soon as it is here. */
function useWatchlist(layout: Layout | undefined): Loaded<Watched[]> {
  const codes = layout && codesOf(layout.groups)
  const list = codes?.join(',')
  const board = useLoaded(list, async signal =>
    list === ''
      ? []
      : (await dataOf<{ rows: BoardRow[] }>(`${boardPath}?codes=${list}`, { signal })).rows,
  )
  const key = board.data && board.data.length > 0 ? `why ${list}` : undefined
  const years = useLoaded(codes?.length ? `years ${list}` : undefined, signal =>
    dataOf<{ metrics: Metric[] }>(
      `/v1/prices/metrics?by_code=${codes!.slice(0, metricsMax).join(',')}`,
      { signal },
    ),
  )
  const events = useLoaded(key, lateEvents)
  const measured = board.data?.map(row => ({
    row,
    deviations: deviationsOf(row.change_24h, row.sparkline),
  }))
  const reasons = useLoaded(key, async signal => {
    const moved = measured!.toSorted(bySize).slice(0, lookedUpMax)
    return new Map(
      await Promise.all(
        moved.map(async ({ row }) => [row.code, await reasonOf(row, signal)] as const),
      ),
    )
  })
  return {
    ...board,
    isLoading: board.isLoading || list === undefined,
    data: measured?.map(({ row, deviations }) => ({
      ...row,
      deviations,
      year: years.data?.metrics.find(({ code }) => code === row.code),
      event: events.data?.find(({ commodity }) => commodity === row.code),
      ...reasons.data?.get(row.code),
    })),
    refusal: board.refusal ?? years.refusal ?? events.refusal ?? reasons.refusal,
    set: () => undefined,
  }
}

const bySize = (a: { deviations: number | null }, b: { deviations: number | null }): number =>
  Math.abs(b.deviations ?? 0) - Math.abs(a.deviations ?? 0)

/** So many of the largest moves are looked up for their reason. */
const lookedUpMax = 6

interface Reason {
  /** Its newest value before a correction. */
  revised?: number | undefined
  /** Published in the last day, by a source that publishes more rarely. */
  isReleased?: boolean
}

interface Vintaged {
  coverage_since: string
  points: { vintages: { value: number; is_current: boolean }[] }[]
}

/** What the newest value of a row was before it was corrected, and whether it is a release. */
async function reasonOf(row: BoardRow, signal: AbortSignal): Promise<Reason> {
  const at = encodeURIComponent(row.created_at)
  const path = `/v1/prices/vintages?by_code=${row.code}&observed_at=${at}`
  const answer = await whereThere(dataOf<Vintaged>(path, { signal, isLater: true }))
  // The point may be withheld by now.
  if (!answer) return {}
  const [point] = answer.points
  return {
    revised: point?.vintages.findLast(({ is_current: isCurrent }) => !isCurrent)?.value,
    // A first import releases nothing.
    isReleased: isLate(row) && Date.parse(answer.coverage_since) < now() - dayMs,
  }
}

/** Recorded in the last day, more than a day after the time that it is of. */
const isLate = ({ created_at: observed, updated_at: recorded }: BoardRow): boolean =>
  Date.parse(recorded) > now() - dayMs && Date.parse(recorded) - Date.parse(observed) > dayMs

const eventMs = 7 * dayMs

/** Events of the past week, of all series, newest first. */
async function lateEvents(signal: AbortSignal): Promise<Note[]> {
  if (!boot.hasEvents || !has('calculated_metrics')) return []
  const path = '/v1/indicators/annotations?per_page=100'
  const notes = await whereThere(dataOf<Note[]>(path, { signal, isLater: true }))
  return (notes ?? []).filter(({ date }) => Date.parse(date) > now() - eventMs)
}

function deviationsOf(change: Change | null, closes: readonly number[]): number | null {
  const moves = closes.slice(1).map((close, i) => close - closes[i]!)
  if (!change || moves.length < 5) return null
  const mean = moves.reduce((sum, value) => sum + value, 0) / moves.length
  const variance = moves.reduce((sum, value) => sum + (value - mean) ** 2, 0) / moves.length
  return variance > 0 ? change.amount / Math.sqrt(variance) : null
}

function Morning() {
  const layouts = useLayouts()
  const watched = useWatchlist(layouts.shown)
  useFirstView((watched.data ?? watched.refusal ?? layouts.answer.refusal) !== undefined)
  return (
    <Page
      title="Market"
      about={<Brief rows={watched.data} />}
      actions={
        <>
          <Layouts layouts={layouts.answer.data ?? []} shown={layouts.shown?.name ?? ''} />
          <Session />
        </>
      }
    >
      {layouts.answer.refusal && <Refused error={layouts.answer.refusal} />}
      {!boot.hasData ? (
        <NoData text="No prices yet." />
      ) : watched.data?.length === 0 ? (
        <section class="card">
          <Empty>
            No code of this watchlist has a price. <a href="/board">Choose codes</a>
          </Empty>
        </section>
      ) : (
        <div class="morning">
          <Ticker rows={watched.data?.slice(0, 8) ?? []} />
          <Movers of={layouts.answer.refusal ? { ...watched, isLoading: false } : watched} />
          {quotedFamilies.length > 0 && has('futures') && <Curves />}
          <StocksNow instead={gasStocks.slice(0, 5)} />
          {hasSpreads && has('calculated_metrics') && <SpreadsNow />}
          <div class="stack dates">
            <Releases />
            {has('standard_alerts') && <Triggers />}
          </div>
        </div>
      )}
    </Page>
  )
}

/** Whether the futures trade now: an old price is normal while the market is closed. */
function Session() {
  const [family] = quotedFamilies
  const path = family && has('futures') ? `/v1/futures/${family.value}` : undefined
  const answer = useAnswer<Futures>(path, true)
  const hours = answer.data?.trading_hours
  return (
    <>
      {hours && (
        <span
          title={`${answer.data!.name} trade from ${hours.open} to ${hours.close}, ${hours.timezone}`}
        >
          <Tag mood={hours.is_open ? 'good' : undefined}>
            {hours.is_open ? 'Market open' : 'Market closed'}
          </Tag>
        </span>
      )}
      <a href="/board">Edit watchlist</a>
    </>
  )
}

/** So many codes are in the brief of every built-in plan. */
const briefMax = 3

/** Where the forecast sees the first codes of the watchlist in a month. */
function Brief({ rows }: { rows: readonly BoardRow[] | undefined }) {
  const codes = rows?.slice(0, briefMax).map(({ code }) => code)
  const path = codes?.length ? `/v1/market-brief?codes=${codes.join(',')}` : undefined
  const answer = useData<{ commodities: Briefed[] }>(path, true)
  const ranges = forecastRanges(answer.data?.commodities ?? [], number)
  return <>{ranges ?? 'This morning’s watchlist, curves, stocks and spreads.'}</>
}

const Ticker = ({ rows }: { rows: Watched[] }) => (
  <ul class="ticker plain" aria-label="Ticker">
    {rows.map(row => (
      <li key={row.code}>
        <a href={`/series/${row.code}`}>
          <QuoteTile row={row} year={row.year} />
        </a>
      </li>
    ))}
  </ul>
)

const bigMove = 2
/** From here on exchanges halt or limit the trading of most energy futures. */
const limitPercent = 10

/** Why a row has its rank, as far as numbers show it. */
function Reasons({ row }: { row: Watched }) {
  const { year, price, deviations, event, revised } = row
  const isLimit = Math.abs(row.change_24h?.percent ?? 0) >= limitPercent
  const near = year ? (year.max_52w - year.min_52w) * 0.02 : 0
  return (
    <span class="row chips">
      {isLimit ? (
        <span
          title={`A move of ${limitPercent}% or more in a day, where exchanges may halt trading`}
        >
          <Tag mood="bad">Limit move</Tag>
        </span>
      ) : (
        deviations !== null && Math.abs(deviations) >= bigMove && <Tag mood="warn">Large move</Tag>
      )}
      {revised !== undefined && (
        <span title={`Corrected from ${number(revised)}`}>
          <Tag>Revised</Tag>
        </span>
      )}
      {event && (
        <span title={`${event.title}. ${event.description}`}>
          <Tag mood="warn">{words(event.category)}</Tag>
        </span>
      )}
      {row.isReleased && <Tag>Release</Tag>}
      {year && price >= year.max_52w - near && <Tag>52-week high</Tag>}
      {year && price <= year.min_52w + near && <Tag>52-week low</Tag>}
      {row.data_status !== 'current' && <Tag mood="bad">{words(row.data_status)}</Tag>}
    </span>
  )
}

const Movers = ({ of }: { of: Loaded<Watched[]> }) => (
  <Table
    caption="Movers"
    of={of}
    rows={of.data?.toSorted(bySize)}
    isTall
    empty="The watchlist is empty."
    columns={({ column, numeric }) => [
      ...priceFileColumns,
      priceColumns.name,
      priceColumns.last,
      numeric('Change', row => row.change_24h?.amount, {
        isWide: true,
        show: row => (row.change_24h ? signed(row.change_24h.amount, digitsOf(row)) : '–'),
      }),
      priceColumns.day,
      numeric('σ', 'deviations', {
        fileName: 'deviations',
        isWide: true,
        write: orDash(deviations => signed(deviations, 1)),
      }),
      numeric('7 days', row => row.change_7d?.percent, {
        isWide: true,
        show: row => <Move change={row.change_7d} digits={digitsOf(row)} />,
      }),
      column(
        '52 weeks',
        row =>
          row.year && (row.price - row.year.min_52w) / (row.year.max_52w - row.year.min_52w || 1),
        { isFileOnly: true },
      ),
      { name: 'Why', isWide: true, show: row => <Reasons row={row} /> },
    ]}
  />
)

const shownFamilies = 4

/** The curves of four families by tenor, each against the same curve of earlier days. */
function Curves() {
  return (
    <section class="card" aria-labelledby="curves">
      <header>
        <h2 id="curves" class="nowrap">
          Curves by tenor
        </h2>
        <CurveKeys />
      </header>
      <div class="multiples">
        {quotedFamilies.slice(0, shownFamilies).map(({ value, text }) => (
          <CurveTile key={value} family={value} text={text} />
        ))}
      </div>
    </section>
  )
}

/** Which line is the curve of which day. */
export const CurveKeys = () => (
  <span class="row small">
    {ages.map(({ text, short, ink }) => (
      <span key={text} class="key" data-ink={ink} title={text}>
        {short}
      </span>
    ))}
  </span>
)

export function CurveTile({ family, text }: { family: string; text: string }) {
  const { newest, earlier } = useCurves(family, { isLater: true })
  const curve = newest.data
  if (!curve) return <div class="tile">{newest.refusal && <Refused error={newest.refusal} />}</div>
  if (!hasCurve(curve))
    return (
      <div class="tile">
        <b>{text}</b>
        <span class="small quiet">No quotes now</span>
      </div>
    )
  const [first, second] = curve.contracts
  const lines = [curve, ...(earlier.data ?? [])].flatMap((each, i) =>
    hasCurve(each)
      ? [
          {
            values: each.contracts.map(({ price }) => price),
            ink: ages[i]!.ink,
            isStrong: i === 0,
          },
        ]
      : [],
  )
  const digits = Math.max(0, ...curve.contracts.map(({ price }) => decimalsOf(price)))
  return (
    <a class="tile" href={`/markets?family=${family}`} title={`Curve of ${curve.analysis_date}`}>
      <span class="row spread">
        <b>{text}</b>
        <span class="small quiet">{words(curve.curve_type)}</span>
      </span>
      <MiniLines lines={lines} />
      <span class="row spread small">
        <span>M1 {first ? number(first.price, digits) : '–'}</span>
        <span>
          M1–M2 {first && second ? signed(first.price - second.price, Math.max(2, digits)) : '–'}
        </span>
      </span>
    </a>
  )
}

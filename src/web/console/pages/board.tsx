import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { caller, whoIsThere } from '../parts/account.ts'
import { dataOf, useLoaded } from '../parts/ask.ts'
import { Copy, Empty, Members, Page, Shown, save, Tag } from '../parts/bits.tsx'
import { codes, loadCodes, matchingCodes } from '../parts/codes.ts'
import { ago, csvOf, unitOf, words } from '../parts/format.ts'
import { type LivePrice, useLive } from '../parts/live.ts'
import { type Change, Move } from '../parts/move.tsx'
import { Spark } from '../parts/spark.tsx'

export interface BoardRow {
  code: string
  name: string
  category: string
  currency: string | null
  unit: string
  price: number
  formatted: string
  created_at: string
  data_status: 'current' | 'delayed' | 'stale'
  change_24h: Change | null
  change_7d: Change | null
  change_30d: Change | null
  sparkline: number[]
}

interface BoardAnswer {
  rows: BoardRow[]
  missing_codes: string[]
}

/** What a board begins with, until somebody chooses. */
const firstCodes = [
  'BRENT_CRUDE_USD',
  'WTI_USD',
  'DUBAI_CRUDE_USD',
  'NATURAL_GAS_USD',
  'DUTCH_TTF_EUR',
  'JKM_LNG_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
  'JET_FUEL_USD',
  'HEATING_OIL_USD',
  'COAL_USD',
  'EU_CARBON_EUR',
  'GOLD_USD',
]

const keptAs = (): string => `board.${caller.value?.id ?? ''}`

function keptCodes(): string[] | undefined {
  const text = localStorage.getItem(keptAs())
  return text === null ? undefined : (JSON.parse(text) as string[])
}

export function Board() {
  return <Members title="Board">{() => <OwnBoard />}</Members>
}

function OwnBoard() {
  const chosen = useSignal<string[] | undefined>(undefined)
  const isEditing = useSignal(false)
  useEffect(() => {
    void whoIsThere()
      .then(() => Promise.all([loadCodes()]))
      .then(() => {
        const listedCodes = new Set(codes.value.map(({ code }) => code))
        chosen.value = keptCodes() ?? firstCodes.filter(code => listedCodes.has(code))
      })
      .catch(() => {
        chosen.value = []
      })
  }, [])
  const shownCodes = chosen.value
  const answer = useLoaded(shownCodes && `board ${shownCodes.join(',')}`, () =>
    shownCodes?.length === 0
      ? Promise.resolve<BoardAnswer>({ rows: [], missing_codes: [] })
      : dataOf<BoardAnswer>(`/v1/prices/board?codes=${(shownCodes ?? []).join(',')}`),
  )
  const ticked = useSignal<Record<string, LivePrice>>({})
  useLive(shownCodes ?? [], prices => {
    ticked.value = {
      ...ticked.value,
      ...Object.fromEntries(prices.map(price => [price.code, price])),
    }
  })

  const choose = (next: string[]) => {
    localStorage.setItem(keptAs(), JSON.stringify(next))
    chosen.value = next
  }
  const rows = (answer.data?.rows ?? []).map(row => withTick(row, ticked.value[row.code]))
  const asCsv = () =>
    csvOf([
      ['code', 'name', 'price', 'currency', 'unit', 'change_24h_percent', 'observed_at'],
      ...rows.map(row => [
        row.code,
        row.name,
        row.price,
        row.currency,
        row.unit,
        row.change_24h?.percent,
        row.created_at,
      ]),
    ])

  return (
    <Page
      title="Board"
      about="The newest price of the codes you choose."
      actions={
        <>
          <button
            type="button"
            aria-pressed={isEditing.value}
            onClick={() => {
              isEditing.value = !isEditing.value
            }}
          >
            {isEditing.value ? 'Done' : 'Choose codes'}
          </button>
          <button type="button" onClick={() => void answer.reload()}>
            Refresh
          </button>
          <button type="button" onClick={() => save('board.csv', 'text/csv', asCsv())}>
            CSV
          </button>
          <Copy text={asCsv} />
        </>
      }
    >
      {isEditing.value && shownCodes && <Chooser chosen={shownCodes} onChoose={choose} />}
      <section class="card flush" aria-label="Prices">
        <Shown of={answer} what="prices">
          {({ missing_codes }) => (
            <>
              {rows.length === 0 ? (
                <Empty>
                  <p>There is nothing on your board. Choose codes to see their prices here.</p>
                </Empty>
              ) : (
                <Prices rows={rows} ticked={ticked.value} />
              )}
              {missing_codes.length > 0 && (
                <p class="quiet small" style={{ padding: 'var(--s3) var(--s4)' }}>
                  Without a price at present: {missing_codes.join(', ')}
                </p>
              )}
            </>
          )}
        </Shown>
      </section>
    </Page>
  )
}

/** A row with what the stream has said since it was asked for. */
function withTick(row: BoardRow, tick: LivePrice | undefined): BoardRow {
  if (!tick || tick.created_at <= row.created_at) return row
  const shift = (change: Change | null): Change | null => {
    if (!change) return null
    const before = row.price - change.amount
    const amount = tick.price - before
    return { amount, percent: before > 0 ? (100 * amount) / before : null }
  }
  return {
    ...row,
    price: tick.price,
    formatted: row.formatted.replace(/-?[\d,]+(\.\d+)?/, old =>
      tick.price.toLocaleString('en-US', {
        minimumFractionDigits: old.split('.')[1]?.length ?? 0,
        maximumFractionDigits: old.split('.')[1]?.length ?? 0,
      }),
    ),
    created_at: tick.created_at,
    change_24h: shift(row.change_24h),
    change_7d: shift(row.change_7d),
    change_30d: shift(row.change_30d),
    sparkline: [...row.sparkline.slice(0, -1), tick.price],
  }
}

const moods = { current: undefined, delayed: 'warn', stale: 'bad' } as const

function Prices({ rows, ticked }: { rows: BoardRow[]; ticked: Record<string, LivePrice> }) {
  const groups = [...Map.groupBy(rows, row => row.category)]
  return (
    <div class="scroll">
      <table class="board">
        <thead>
          <tr>
            <th scope="col">Commodity</th>
            <th scope="col" class="number">
              Price
            </th>
            <th scope="col" class="number">
              24 h
            </th>
            <th scope="col" class="number wide-only">
              7 days
            </th>
            <th scope="col" class="number wide-only">
              30 days
            </th>
            <th scope="col">30 days</th>
            <th scope="col" class="number wide-only">
              Observed
            </th>
          </tr>
        </thead>
        {groups.map(([category, part]) => (
          <tbody key={category}>
            <tr class="section">
              <th scope="rowgroup" colSpan={7}>
                {words(category)}
              </th>
            </tr>
            {part.map(row => (
              <tr key={row.code}>
                <th scope="row">
                  <a href={`/series/${row.code}`}>{row.name}</a>
                  <div class="code wide-only">{row.code}</div>
                </th>
                <td class="number" key={ticked[row.code]?.created_at}>
                  <span class={`strong ${ticked[row.code] ? 'ticked' : ''}`}>{row.formatted}</span>
                  <div class="quiet small wide-only">{unitOf(row.currency, row.unit)}</div>
                </td>
                <td class="number">
                  <Move change={row.change_24h} />
                </td>
                <td class="number wide-only">
                  <Move change={row.change_7d} />
                </td>
                <td class="number wide-only">
                  <Move change={row.change_30d} />
                </td>
                <td>
                  <Spark values={row.sparkline} />
                </td>
                <td class="number quiet wide-only">
                  {row.data_status !== 'current' && (
                    <>
                      <Tag mood={moods[row.data_status]}>{row.data_status}</Tag>{' '}
                    </>
                  )}
                  {ago(row.created_at)}
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

const codesMax = 200

/** Adds, orders and removes the codes of a board. */
function Chooser({ chosen, onChoose }: { chosen: string[]; onChoose: (next: string[]) => void }) {
  const typed = useSignal('')
  const near = matchingCodes(typed.value, 8).filter(({ code }) => !chosen.includes(code))
  const moved = (i: number, by: number) => {
    const next = [...chosen]
    const [code] = next.splice(i, 1)
    next.splice(i + by, 0, code!)
    return next
  }
  return (
    <section class="card" aria-label="Codes of the board">
      <label>
        Add a code
        <input
          type="search"
          placeholder="Name or code"
          value={typed.value}
          onInput={event => {
            typed.value = event.currentTarget.value
          }}
        />
      </label>
      {typed.value !== '' && (
        <div class="row">
          {near.length === 0 && <span class="quiet">Nothing has that name.</span>}
          {near.map(({ code, name }) => (
            <button
              type="button"
              class="tight"
              key={code}
              disabled={chosen.length >= codesMax}
              onClick={() => {
                onChoose([...chosen, code])
                typed.value = ''
              }}
            >
              + {name} <span class="code">{code}</span>
            </button>
          ))}
        </div>
      )}
      <ol class="chosen">
        {chosen.map((code, i) => (
          <li key={code}>
            <span class="code">{code}</span>
            <span class="row">
              <button
                type="button"
                class="tight"
                aria-label={`${code} up`}
                disabled={i === 0}
                onClick={() => onChoose(moved(i, -1))}
              >
                ↑
              </button>
              <button
                type="button"
                class="tight"
                aria-label={`${code} down`}
                disabled={i === chosen.length - 1}
                onClick={() => onChoose(moved(i, 1))}
              >
                ↓
              </button>
              <button
                type="button"
                class="tight"
                aria-label={`Remove ${code}`}
                onClick={() => onChoose(chosen.filter(other => other !== code))}
              >
                Remove
              </button>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

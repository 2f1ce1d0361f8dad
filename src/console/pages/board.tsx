import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BoardRow } from '../../topics/prices/operations/board.ts'
import { May, Refused, Tag } from '../parts/bits.tsx'
import { Button, Confirmed } from '../parts/buttons.tsx'
import { Spark } from '../parts/charts/spark.tsx'
import { Input, Options, Select } from '../parts/fields.tsx'
import { useFocusKept } from '../parts/focus.ts'
import { Members, Page } from '../parts/page.tsx'
import { ask, dataOf, type Loaded, useAttempt, useData, useLoaded } from '../parts/requests/ask.ts'
import { codesRefusal, matchingCodes, nearCodes, wantCodes } from '../parts/requests/codes.ts'
import { layoutPath } from '../parts/requests/first.ts'
import { type LivePrice, useLive } from '../parts/requests/live.ts'
import { type Column, numeric, seriesLink } from '../parts/tables/columns.tsx'
import { type Change, Move } from '../parts/tables/move.tsx'
import { digitsOf, priceColumns, priceFileColumns } from '../parts/tables/price-columns.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { bound, sets } from '../parts/text/form.ts'
import { ago, number, signed, unitOf, words } from '../parts/text/format.ts'
import { type Group, Sharing } from './market/layouts.tsx'

interface BoardAnswer {
  rows: BoardRow[]
  missing_codes: string[]
}

interface Layout {
  groups: Group[]
  is_own: boolean
}

export function Board() {
  return (
    <Members
      title="Board"
      about="The latest price of each code on your watchlist, live, with its change over a day, a week and a month."
    >
      {() => <OwnBoard />}
    </Members>
  )
}

function OwnBoard() {
  const layout = useData<Layout>(layoutPath)
  const isEditing = useSignal(false)
  const { refusal, attempt } = useAttempt()
  useEffect(() => {
    if (isEditing.value) wantCodes()
  }, [isEditing.value])
  const groups = layout.data?.groups
  const shownCodes = groups?.flatMap(group => group.codes)
  const answer = useLoaded(shownCodes && `board ${shownCodes.toSorted().join(',')}`, signal =>
    shownCodes?.length === 0
      ? Promise.resolve<BoardAnswer>({ rows: [], missing_codes: [] })
      : dataOf<BoardAnswer>(`/v1/prices/board?codes=${(shownCodes ?? []).join(',')}`, { signal }),
  )
  const ticked = useSignal<Record<string, LivePrice>>({})
  useLive(shownCodes ?? [], prices => {
    ticked.value = {
      ...ticked.value,
      ...Object.fromEntries(prices.map(price => [price.code, price])),
    }
  })

  /** Shown at once; if the service refuses it, it is reverted and the error is shown. */
  const choose = (next: Group[]) =>
    attempt(async () => {
      const before = layout.data
      layout.set({ groups: next, is_own: true })
      try {
        await ask(layoutPath, { method: 'PUT', body: { groups: next } })
      } catch (error) {
        if (before) layout.set(before)
        throw error
      }
    })
  const reset = () =>
    attempt(async () => {
      layout.set(await dataOf<Layout>(layoutPath, { method: 'DELETE' }))
    })
  const byCode = new Map((answer.data?.rows ?? []).map(row => [row.code, row]))
  const rows =
    answer.data && groups?.flatMap(group => group.codes.flatMap(code => byCode.get(code) ?? []))
  const groupNames = new Map(
    groups?.flatMap(({ name, codes: members }) => members.map(code => [code, name] as const)),
  )
  const isOwn = layout.data?.is_own ?? false

  return (
    <Page
      title="Board"
      about="The latest price of each code on your watchlist."
      actions={
        <>
          <Button
            label={isEditing.value ? 'Done' : 'Choose codes'}
            isPressed={isEditing.value}
            onClick={sets(isEditing, !isEditing.value)}
          />
          <Button label="Refresh" onClick={() => answer.reload()} />
        </>
      }
    >
      {layout.refusal && <Refused error={layout.refusal} />}
      {refusal.value && <Refused error={refusal.value} />}
      {isEditing.value && codesRefusal.value && <Refused error={codesRefusal.value} />}
      {isEditing.value && groups && (
        <>
          <Chooser groups={groups} isOwn={isOwn} onChoose={choose} onReset={reset} />
          <May action="change_data">
            <Sharing groups={groups} />
          </May>
        </>
      )}
      <Prices
        of={{ isLoading: layout.isLoading || answer.isLoading, refusal: answer.refusal }}
        rows={rows?.map(row => withTick(row, ticked.value[row.code]))}
        ticked={ticked.value}
        groupOf={row => (isOwn ? (groupNames.get(row.code) ?? '') : words(row.category))}
        missing={answer.data?.missing_codes ?? []}
        onEdit={sets(isEditing, true)}
      />
    </Page>
  )
}

/** A row updated by a later price of the stream. */
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

interface PricesProps {
  of: Pick<Loaded<BoardAnswer>, 'isLoading' | 'refusal'>
  rows: BoardRow[] | undefined
  ticked: Record<string, LivePrice>
  groupOf: (row: BoardRow) => string
  missing: string[]
  onEdit: () => void
}

const move = (
  name: string,
  fileName: string,
  pick: (row: BoardRow) => Change | null,
): Column<BoardRow> =>
  numeric(name, row => pick(row)?.percent, {
    fileName,
    isWide: true,
    show: row => <Move change={pick(row)} />,
  })

const Prices = ({ of, rows, ticked, groupOf, missing, onEdit }: PricesProps) => (
  <Table
    caption="Prices"
    file="board"
    className="board"
    of={of}
    rows={rows}
    groupOf={groupOf}
    empty={
      <>
        <p>Your watchlist is empty. Choose codes to see their prices here.</p>
        <Button label="Choose codes" onClick={onEdit} />
      </>
    }
    note={missing.length > 0 ? `No current price: ${missing.join(', ')}` : undefined}
    columns={({ numeric }) => [
      ...priceFileColumns,
      {
        ...priceColumns.name,
        show: ({ code, name }) => twoLines(seriesLink(code, name), code, 'code wide-only'),
      },
      {
        ...priceColumns.last,
        show: row => (
          <div key={ticked[row.code]?.created_at}>
            <span class={`strong ${ticked[row.code] ? 'ticked' : ''}`}>
              {number(row.price, digitsOf(row))}
            </span>
            <div class="quiet small">{unitOf(row.currency, row.unit)}</div>
          </div>
        ),
      },
      numeric('Change', row => row.change_24h?.amount, {
        fileName: 'change_24h',
        isWide: true,
        show: row => (row.change_24h ? signed(row.change_24h.amount, digitsOf(row)) : '–'),
      }),
      priceColumns.day,
      move('7 days', 'change_7d_percent', row => row.change_7d),
      move('30 days', 'change_30d_percent', row => row.change_30d),
      { name: 'Month', show: ({ sparkline }) => <Spark values={sparkline} /> },
      numeric('Observed', 'created_at', {
        fileName: 'observed_at',
        isWide: true,
        className: 'quiet',
        show: row => (
          <>
            {row.data_status !== 'current' && (
              <>
                <Tag mood={moods[row.data_status]}>{row.data_status}</Tag>{' '}
              </>
            )}
            {ago(row.created_at)}
          </>
        ),
      }),
    ]}
  />
)

const codesMax = 200

interface ChooserProps {
  groups: Group[]
  isOwn: boolean
  onChoose: (next: Group[]) => void
  onReset: () => void
}

/** Adds, groups, orders and removes the codes of a board. */
function Chooser({ groups, isOwn, onChoose, onReset }: ChooserProps) {
  const typed = useSignal('')
  const into = useSignal(0)
  const chosen = groups.flatMap(group => group.codes)
  const near = matchingCodes(typed.value, 8).filter(({ code }) => !chosen.includes(code))
  const meant = near.length > 0 ? near : nearCodes(typed.value, 3)
  const at = Math.min(into.value, Math.max(0, groups.length - 1))
  const changed = (i: number, change: (group: Group) => Group) =>
    groups.map((group, other) => (other === i ? change(group) : group))
  const add = (code: string) => {
    const next = groups.length === 0 ? [{ name: '', codes: [] }] : groups
    onChoose(
      next.map((group, i) => (i === at ? { ...group, codes: [...group.codes, code] } : group)),
    )
    typed.value = ''
  }
  return (
    <section class="card" aria-label="Watchlist codes" ref={useFocusKept()} tabIndex={-1}>
      <div class="row end">
        <Input label="Add a code" type="search" placeholder="Name or code" {...bound(typed)} />
        {groups.length > 1 && (
          <Select
            label="Group"
            of={groups.map((group, i) => ({ value: String(i), text: nameOf(group, i) }))}
            value={String(at)}
            onChange={event => {
              into.value = Number(event.currentTarget.value)
            }}
          />
        )}
        <Button
          label="New group"
          onClick={() => {
            into.value = groups.length
            onChoose([...groups, { name: `Group ${groups.length + 1}`, codes: [] }])
          }}
        />
        {isOwn && (
          <Confirmed
            label="Reset"
            className=""
            question="Reset your watchlist to the codes that a new user sees?"
            onConfirm={onReset}
          />
        )}
      </div>
      {typed.value !== '' && (
        <div class="row">
          {near.length === 0 && (
            <span class="quiet" role="status">
              No results.{meant.length > 0 && ' Did you mean:'}
            </span>
          )}
          {meant.map(({ code, name }) => (
            <button
              type="button"
              class="tight"
              key={code}
              disabled={chosen.length >= codesMax || chosen.includes(code)}
              onClick={() => add(code)}
            >
              + {name} <span class="code">{code}</span>
            </button>
          ))}
        </div>
      )}
      {groups.map((group, i) => (
        <fieldset key={String(i)}>
          <legend>{nameOf(group, i)}</legend>
          <div class="row end">
            <Input
              label="Heading"
              maxLength={60}
              placeholder="None"
              value={group.name}
              onChange={event =>
                onChoose(changed(i, group => ({ ...group, name: event.currentTarget.value })))
              }
            />
            <Button
              label="Move up"
              of={nameOf(group, i)}
              isOff={i === 0}
              onClick={() => onChoose(moved(groups, i, i - 1))}
            />
            <Button
              label="Remove group"
              of={nameOf(group, i)}
              onClick={() => onChoose(groups.filter((_, other) => other !== i))}
            />
          </div>
          <ol class="chosen">
            {group.codes.map((code, place) => (
              <Chosen
                key={code}
                code={code}
                isFirst={place === 0}
                isLast={place === group.codes.length - 1}
                groups={groups}
                group={i}
                onMove={by =>
                  onChoose(
                    changed(i, group => ({
                      ...group,
                      codes: moved(group.codes, place, place + by),
                    })),
                  )
                }
                onGroup={to =>
                  onChoose(
                    groups.map((one, other) => ({
                      ...one,
                      codes:
                        other === to
                          ? [...one.codes, code]
                          : one.codes.filter(member => member !== code),
                    })),
                  )
                }
                onRemove={() =>
                  onChoose(
                    changed(i, group => ({
                      ...group,
                      codes: group.codes.filter(member => member !== code),
                    })),
                  )
                }
              />
            ))}
          </ol>
        </fieldset>
      ))}
    </section>
  )
}

const nameOf = ({ name }: Group, i: number): string => name || `Group ${i + 1}`

function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list]
  next.splice(to, 0, ...next.splice(from, 1))
  return next
}

interface ChosenProps {
  code: string
  isFirst: boolean
  isLast: boolean
  groups: Group[]
  /** Index of its group. */
  group: number
  onMove: (by: number) => void
  onGroup: (to: number) => void
  onRemove: () => void
}

const Chosen = ({ code, isFirst, isLast, groups, group, ...on }: ChosenProps) => (
  <li>
    <span class="code">{code}</span>
    <span class="row">
      {groups.length > 1 && (
        <select
          class="tight"
          aria-label={`Group of ${code}`}
          value={String(group)}
          onChange={event => on.onGroup(Number(event.currentTarget.value))}
        >
          <Options of={groups.map((each, i) => ({ value: String(i), text: nameOf(each, i) }))} />
        </select>
      )}
      <button
        type="button"
        class="tight"
        aria-label={`${code} up`}
        aria-disabled={isFirst}
        onClick={() => isFirst || on.onMove(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="tight"
        aria-label={`${code} down`}
        aria-disabled={isLast}
        onClick={() => isLast || on.onMove(1)}
      >
        ↓
      </button>
      <Button className="tight" label="Remove" of={code} onClick={on.onRemove} />
    </span>
  </li>
)

import { useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment, options } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { type CsvCell, csvText, sheetText } from '../../../lib/text/csv.ts'
import { Empty, type Outcome, Refused, Result, Waiting } from '../bits.tsx'
import { Button, Copy, RowName } from '../buttons.tsx'
import { useOnPaper } from '../charts/paper.ts'
import { SearchField } from '../fields.tsx'
import { useFocusKept } from '../focus.ts'
import type { Loaded } from '../requests/ask.ts'
import { mayDo } from '../requests/boot.ts'
import { save } from '../save.ts'
import { takes } from '../text/form.ts'
import { number } from '../text/format.ts'
import { type Cell, type Column, type Columns, column, numeric } from './columns.tsx'

interface TableProps<T> {
  /** The heading above the table. */
  caption: string
  columns: readonly Column<T>[] | ((of: Columns<T>) => readonly Column<T>[])
  rows: readonly T[] | undefined
  /** The answer that the rows come from, so that waiting and refusals are shown in their place. */
  of?: Pick<Loaded<unknown>, 'isLoading' | 'refusal'>
  /** Without it, the key of a row is its id, or its first value, which only a file may show. */
  keyOf?: (row: T, index: number) => string
  /** The key of a row is its place in the page, too: an address with `#key` leads to the row. */
  hasPlaces?: boolean
  /** Shown when there are no rows: what would be here, and the next step. */
  empty: ComponentChildren
  /** The heading under which a row stands; rows of one heading follow each other. */
  groupOf?: ((row: T) => string) | undefined
  /** Names the saved file, and the table in its page; without it, from the caption. */
  file?: string
  /** Choices and forms next to the heading. */
  actions?: ComponentChildren
  /** The choices next to the heading already search, in more rows than are here. */
  hasSearch?: boolean
  /** Words under the rows. */
  note?: ComponentChildren
  /** More rows than are shown: how many there are, and what shows the next of them. */
  pages?: { total: number; more: (() => void) | undefined }
  /** What came of a change of its rows, shown above it. */
  outcome?: Outcome
  /** Its rows scroll under their headings. */
  isTall?: boolean
  /** Rows of the file where the screen shows fewer. */
  fileRows?: () => readonly T[]
  className?: string
}

/** A cell of two lines: the second says more of the first, where there is more. */
export const twoLines = (
  first: ComponentChildren,
  second: ComponentChildren,
  className = 'quiet small',
) => (
  <>
    {first}
    {second && <div class={className}>{second}</div>}
  </>
)

const placeInAddress = (): string => decodeURIComponent(location.hash.slice(1))

const meantRow = (section: HTMLElement | null): Element | undefined =>
  [...(section?.querySelectorAll('tr[id]') ?? [])].find(({ id }) => id === placeInAddress())

const fileNameOf = (caption: string): string =>
  caption
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** From so many rows on, a heading sorts them; from so many on, a field filters them. */
const sortedMin = 4
const filteredMin = 11
/** So many rows are drawn at first, and so many more whenever the last of them comes into sight. */
const drawnStep = 200

interface Order {
  column: string
  isDown: boolean
}

const isNothing = (cell: Cell): boolean => cell === null || cell === undefined || cell === ''

/** Numbers by size, texts as people sort them; rows without a value come last either way. */
function compared(a: Cell, b: Cell, isDown: boolean): number {
  if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b))
  const difference =
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), 'en', { numeric: true })
  return isDown ? -difference : difference
}

/** The rows that have every word of the filter in one of their values, in the chosen order. */
function arranged<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  filter: string,
  order: Order | undefined,
): readonly T[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const textOf = (row: T, i: number) =>
    columns
      .map(({ value }) => value?.(row, i) ?? '')
      .join(' ')
      .toLowerCase()
  const met =
    words.length === 0
      ? rows
      : rows.filter((row, i) => {
          const text = textOf(row, i)
          return words.every(word => text.includes(word))
        })
  const by = order && columns.find(({ name }) => name === order.column)?.value
  if (!order || !by) return met
  return met
    .map((row, i) => ({ row, cell: by(row, i) }))
    .sort((a, b) => compared(a.cell, b.cell, order.isDown))
    .map(({ row }) => row)
}

/** Rows under a heading, to sort, to filter, to save as CSV, to copy into a sheet and to print. */
export function Table<T>(props: TableProps<T>) {
  const { caption, of, empty, actions, note, outcome, isTall, className = '' } = props
  const columns =
    typeof props.columns === 'function' ? props.columns({ column, numeric }) : props.columns
  const shown = columns.filter(
    ({ isFileOnly = false, needs = 'read' }) => !isFileOnly && mayDo(needs),
  )
  const section = useFocusKept()
  const order = useSignal<Order | undefined>(undefined)
  const filter = useSignal('')
  const known = props.rows
  const isSorted = (known?.length ?? 0) >= sortedMin
  const isFiltered = (known?.length ?? 0) >= filteredMin && !props.hasSearch
  const rows = known && arranged(columns, known, isFiltered ? filter.value : '', order.value)
  const all = () => props.fileRows?.() ?? rows ?? []
  const grid = (): CsvCell[][] => gridOf(columns, all())
  const id = props.file ?? fileNameOf(caption)
  const file = `${id}.csv`
  const hasRows = rows !== undefined && rows.length > 0
  const { hasPlaces = false } = props
  useLayoutEffect(() => {
    // The browser looked for the place before its row was there.
    if (hasRows && hasPlaces) meantRow(section.current)?.scrollIntoView({ block: 'center' })
  }, [hasRows, hasPlaces])
  return (
    <>
      {outcome && <Result {...outcome} />}
      <section class="card flush" aria-labelledby={id} ref={section} tabIndex={-1}>
        <header>
          <h2 id={id}>{caption}</h2>
          <div class="row">
            {actions}
            {isFiltered && (
              <SearchField
                className="filter"
                label={`Filter ${caption}`}
                placeholder="Filter"
                of={filter}
              />
            )}
            {hasRows && columns.some(({ value }) => value) && (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame around them
              <div class="row tools" role="group" aria-label={`${caption}: export`}>
                <Button
                  className="plain tight"
                  label="CSV"
                  onClick={() => save(file, 'text/csv', csvText(grid()))}
                />
                <Copy text={() => tabbed(grid())} className="plain tight" />
                <Button
                  className="plain tight wide-only"
                  label="Print"
                  onClick={() => printOnly(section.current)}
                />
              </div>
            )}
          </div>
        </header>
        {of?.refusal && (
          <div class="inset">
            <Refused error={of.refusal} />
          </div>
        )}
        {rows === undefined && of?.isLoading && <Waiting what={caption.toLowerCase()} />}
        {known?.length === 0 && <Empty>{empty}</Empty>}
        {rows?.length === 0 && known!.length > 0 && (
          <Empty>
            None of the {number(known!.length)} rows contains “{filter.value}”.
          </Empty>
        )}
        {hasRows && (
          <section
            class={`scroll ${isTall ? 'tall' : ''}`}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
            tabIndex={0}
            aria-label={`${caption}: rows`}
          >
            <table class={className}>
              <caption class="only-heard">{caption}</caption>
              <thead>
                <tr>
                  {shown.map(column => (
                    <Heading
                      key={column.name}
                      column={column}
                      order={order.value}
                      isSorted={isSorted}
                      onOrder={takes(order)}
                    />
                  ))}
                </tr>
              </thead>
              <Bodies
                keyOf={(row, i) => String((row as { id?: unknown }).id ?? firstOf(columns, row, i))}
                {...props}
                columns={shown}
                {...(order.value && { groupOf: undefined })}
                rows={rows}
              />
            </table>
          </section>
        )}
        {note !== undefined && hasRows && <div class="inset quiet small">{note}</div>}
        {hasRows && props.pages?.more && (
          <div class="inset row spread quiet small">
            <span role="status">
              Showing {number(rows.length)} of {number(props.pages.total)}.
            </span>
            <Button className="tight" label="Show more" of={caption} onClick={props.pages.more} />
          </div>
        )}
      </section>
    </>
  )
}

/** A heading; pressed, it sorts upwards, then downwards, then not at all. Of numbers the largest first. */
function Heading<T>({
  column,
  order,
  isSorted,
  onOrder,
}: {
  column: Column<T>
  order: Order | undefined
  isSorted: boolean
  onOrder: (next: Order | undefined) => void
}) {
  const { name, isNumber = false } = column
  const isMine = order?.column === name
  const next =
    !isMine || order === undefined
      ? { column: name, isDown: isNumber }
      : order.isDown === isNumber
        ? { column: name, isDown: !isNumber }
        : undefined
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isMine ? (order?.isDown ? 'descending' : 'ascending') : undefined}
    >
      {column.isHeadingHidden ? (
        <span class="only-heard">{name}</span>
      ) : isSorted && column.value ? (
        <Button className="sort" label={name} onClick={() => onOrder(next)} />
      ) : (
        name
      )}
    </th>
  )
}

/** How many rows are drawn: more of them whenever the last one comes into sight, and all on paper. */
function useDrawn(total: number) {
  const count = useSignal(drawnStep)
  const isOnPaper = useSignal(false)
  useOnPaper(width =>
    atOnce(() => {
      isOnPaper.value = width !== undefined
    }),
  )
  const last = useRef<HTMLTableRowElement>(null)
  const isWhole = count.value >= total || isOnPaper.value
  useEffect(() => {
    if (isWhole || !last.current) return undefined
    const watch = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) count.value += drawnStep
    })
    watch.observe(last.current)
    return () => watch.disconnect()
  }, [count.value, isWhole])
  return { count: count.value, isWhole, last }
}

/** Draws a change before the browser continues, which prints the page after its event. */
function atOnce(change: () => void): void {
  const { debounceRendering } = options
  options.debounceRendering = draw => draw()
  change()
  options.debounceRendering = debounceRendering
}

interface BodiesProps<T> extends Pick<TableProps<T>, 'groupOf' | 'hasPlaces'> {
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf(row: T, index: number): string
}

function Bodies<T>({ columns, rows: all, keyOf, groupOf, hasPlaces }: BodiesProps<T>) {
  const drawn = useDrawn(all.length)
  const rows = drawn.isWhole || hasPlaces ? all : all.slice(0, drawn.count)
  const line = (row: T, i: number) => (
    <tr
      key={keyOf(row, i)}
      {...(hasPlaces && {
        id: keyOf(row, i),
        class: keyOf(row, i) === placeInAddress() ? 'meant' : '',
      })}
    >
      {columns.map((column, at) => {
        const content = contentOf(column, row, i)
        return at === 0 ? (
          <th scope="row" key={column.name} class={`break ${classOf(column)}`}>
            {content}
          </th>
        ) : (
          <td key={column.name} class={classOf(column)}>
            {column.isHeadingHidden ? (
              <RowName.Provider value={String(firstOf(columns, row, i) ?? '')}>
                {content}
              </RowName.Provider>
            ) : (
              content
            )}
          </td>
        )
      })}
    </tr>
  )
  if (!groupOf)
    return (
      <tbody>
        {rows.map(line)}
        {rows.length < all.length && (
          <tr ref={drawn.last}>
            <td colSpan={columns.length}>…</td>
          </tr>
        )}
      </tbody>
    )
  return (
    <Fragment>
      {[...Map.groupBy(all, groupOf)].map(([group, part]) => (
        <tbody key={group}>
          {group !== '' && (
            <tr class="section">
              <th scope="rowgroup" colSpan={columns.length}>
                {group}
              </th>
            </tr>
          )}
          {part.map(line)}
        </tbody>
      ))}
    </Fragment>
  )
}

const firstOf = <T,>(columns: readonly Column<T>[], row: T, i: number): Cell =>
  columns.find(({ value }) => value)?.value?.(row, i)

function contentOf<T>({ show, write, value }: Column<T>, row: T, i: number): ComponentChildren {
  if (show) return show(row, i)
  const cell = value?.(row, i)
  if (write) return write(cell as never)
  // Years and other whole numbers are written without marks.
  return typeof cell === 'number' && !Number.isInteger(cell) ? number(cell) : (cell ?? '–')
}

const classOf = ({ isNumber, isWide, isHeadingHidden, className = '' }: Column<never>): string =>
  [isNumber && 'number', isWide && 'wide-only', isHeadingHidden && 'end', className]
    .filter(Boolean)
    .join(' ')

function gridOf<T>(columns: readonly Column<T>[], rows: readonly T[]): CsvCell[][] {
  const taken = columns.filter(({ value }) => value !== undefined)
  return [
    taken.map(({ fileName, name }) => fileName ?? name),
    ...rows.map((row, i) => taken.map(({ value }) => value?.(row, i) ?? null)),
  ]
}

/** With tabs, which sheets take as cells; a text that a sheet would run stays a text. */
const tabbed = (grid: readonly (readonly CsvCell[])[]): string =>
  grid
    .map(row =>
      row
        .map(cell => {
          const text = String(cell ?? '').replaceAll(/[\t\r\n]+/g, ' ')
          return typeof cell === 'string' ? sheetText(text) : text
        })
        .join('\t'),
    )
    .join('\n')

/** Prints one part of the page alone. */
function printOnly(part: HTMLElement | null): void {
  if (!part) return
  part.classList.add('printed')
  document.body.classList.add('prints-one')
  print()
  part.classList.remove('printed')
  document.body.classList.remove('prints-one')
}

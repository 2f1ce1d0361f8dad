import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { Empty, Figure, Shown } from '../../parts/bits.tsx'
import { useAnswer } from '../../parts/requests/ask.ts'
import { Table } from '../../parts/tables/table.tsx'
import { number, unitOf } from '../../parts/text/format.ts'
import { cellOf, labelOf, plainText } from './cells.tsx'
import { columnsOf, datesOf } from './columns.tsx'
import { Course } from './course.tsx'
import { type Found, foundIn } from './found.ts'

/** So many facts about a table stand below it, or below figures before the rest is folded. */
const factsMax = 4

interface Paged {
  meta?: { total_count?: number }
}

/**
 * Renders a response of the API: its figures, its tables, and a chart of the first table with
 * dates.
 */
export function Report({ title, path }: { title: string; path: string }) {
  const answer = useAnswer<unknown>(path)
  const found = useMemo(() => foundIn(answer.data), [answer.data])
  const total = (answer.data as Paged | undefined)?.meta?.total_count
  // A date or two of a table stand below it.
  const facts =
    found.tables.length > 0 &&
    found.figures.length <= factsMax &&
    found.figures.every(([, value]) => typeof value === 'string')
      ? found.figures
      : []
  const dated = found.tables.find(({ rows }) => datesOf(rows) !== undefined)
  return (
    <Shown of={answer} what={title.toLowerCase()}>
      {() => (
        <>
          {found.figures.length === 0 && found.tables.length === 0 && (
            <section class="card">
              <Empty>No data for this report yet.</Empty>
            </section>
          )}
          {found.figures.length > facts.length && <Figures title={title} figures={found.figures} />}
          {dated && <Course title={title} rows={dated.rows} />}
          {found.tables.map(({ name, rows }, i) => {
            const { columns, alike } = columnsOf(rows)
            return (
              <Table
                key={name}
                caption={name === 'data' || i === 0 ? title : `${title}: ${labelOf(name)}`}
                file={`report-${i}`}
                rows={rows}
                keyOf={(_, at) => String(at)}
                isTall
                className="report"
                empty="No data for this report yet."
                note={
                  <span class="row spread">
                    <span>
                      {[
                        ...(i === 0
                          ? facts.map(
                              ([field, value]) => `${labelOf(field)}: ${plainText(field, value)}`,
                            )
                          : []),
                        ...alike,
                        i === 0 &&
                          total !== undefined &&
                          total > rows.length &&
                          `First ${number(rows.length)} of ${number(total)} rows; the API returns the rest`,
                      ]
                        .filter(Boolean)
                        .join(' · ')}
                    </span>
                    {i === 0 && <code>GET {path}</code>}
                  </span>
                }
                columns={columns}
              />
            )
          })}
        </>
      )}
    </Shown>
  )
}

/** Figures whose unit is not the one of the answer: shares, ages and numbers of things. */
const hasNoUnit =
  /percent|pct|count|hours|expected|volume|interest|days|weeks|score|zscore|points|period|years|wells|permits|rank|_per_|price[12]$/

/** Numbers as figures with their units, and below them the texts that say what they are of. */
function Figures({ title, figures }: { title: string; figures: Found['figures'] }) {
  const numbers = figures.filter(([, value]) => typeof value === 'number')
  const texts = new Map(figures.filter(([, value]) => typeof value !== 'number'))
  const unitFields = [...texts.keys()].filter(name => /(^|_)unit$/.test(name))
  const unitFor = (name: string): string => {
    const field = unitFields
      .filter(unit => name.startsWith(unit.replace(/_?unit$/, '')))
      .reduce((longest, unit) => (unit.length > longest.length ? unit : longest), '')
    if (field === '' || hasNoUnit.test(name)) return ''
    const currency = texts.get(field.replace(/unit$/, 'currency'))
    return unitOf(currency === undefined ? null : String(currency), String(texts.get(field)))
  }
  const facts = [...texts].filter(
    ([name]) => numbers.length === 0 || !/(^|_)(unit|currency)$/.test(name),
  )
  return (
    <section class="card" aria-label={`${title}: figures`}>
      {numbers.length > 0 && (
        <div class="figures">
          {numbers.map(([name, value]) => (
            <Figure key={name} label={labelOf(name)}>
              {cellOf(name, value)} <span class="small quiet">{unitFor(name)}</span>
            </Figure>
          ))}
        </div>
      )}
      {facts.length > 0 && <Facts facts={facts.slice(0, factsMax)} />}
      {facts.length > factsMax && (
        <details class="small">
          <summary>More about these figures</summary>
          <Facts facts={facts.slice(factsMax)} />
        </details>
      )}
    </section>
  )
}

const Facts = ({ facts }: { facts: Found['figures'] }) => (
  <dl class="facts small">
    {facts.map(([name, value]) => (
      <Fragment key={name}>
        <dt>{labelOf(name)}</dt>
        <dd>{cellOf(name, value)}</dd>
      </Fragment>
    ))}
  </dl>
)

import { useSignal } from '@preact/signals'
import type { ByState, Permit } from '../../../topics/drilling/operations/permit-row.ts'
import { Refused, Tag } from '../../parts/bits.tsx'
import { Input, Select, Submit } from '../../parts/fields.tsx'
import { useAnswer } from '../../parts/requests/ask.ts'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { bound, submits, takes } from '../../parts/text/form.ts'
import { number, words } from '../../parts/text/format.ts'
import { UsMap } from './permits/us-map.tsx'

const shownMax = 100

const wellOf = ({ well }: Permit): string => [well.name, well.number].filter(Boolean).join(' ')

/** Permits to drill, found by words and by state, on a map and in a list. */
export function Permits() {
  const typed = useSignal('')
  const searched = useSignal('')
  const state = useSignal('')
  const states = useAnswer<{ data: (typeof ByState)['static'][] }>('/v1/ei/well-permits/by-state')
  const search = new URLSearchParams({
    per_page: String(shownMax),
    ...(state.value && { states: state.value }),
    ...(searched.value && { query: searched.value }),
  })
  const path = `/v1/ei/well-permits/search?${search}`
  const answer = useAnswer<{ data: Permit[]; meta: { total_count?: number } }>(path)
  const counts = new Map(
    states.data?.data.map(({ state: code, permit_count: count }) => [code, count]),
  )
  const rows = answer.data?.data
  const places = (rows ?? []).flatMap(permit => {
    const { latitude, longitude } = permit.location
    if (latitude === null || longitude === null) return []
    return {
      id: permit.id,
      latitude: Number(latitude),
      longitude: Number(longitude),
      title: `${permit.operator.name}: ${wellOf(permit)}, ${permit.permit_date}`,
    }
  })
  return (
    <>
      <section class="card" aria-labelledby="permit-map">
        <div class="row spread end">
          <h2 id="permit-map">Drilling permits</h2>
          {!states.refusal && (
            <form
              class="row end"
              onSubmit={submits(() => {
                searched.value = typed.value.trim()
              })}
            >
              <Input
                label="Operator, county, formation or well"
                type="search"
                placeholder="midland wolfcamp"
                {...bound(typed)}
              />
              <Select
                label="State"
                none="All"
                of={[...counts.keys()]}
                textOf={code => `${code} (${number(counts.get(code) ?? 0)})`}
                {...bound(state)}
              />
              <Submit>Find</Submit>
            </form>
          )}
        </div>
        {states.refusal && <Refused error={states.refusal} />}
        {!states.refusal && states.data?.data.length !== 0 && (
          <>
            <UsMap
              title={`Map of ${places.length} permits, with the number in each state`}
              places={places}
              counts={counts}
              chosen={state.value}
              onState={takes(state)}
            />
            <p class="quiet small">
              States are shaded by their number of permits. Points are the permits listed below.
              Outlines: US Census Bureau, public domain.
            </p>
          </>
        )}
      </section>
      {!states.refusal && (
        <Table
          caption="Permits found"
          file="permits"
          of={answer}
          rows={rows}
          isTall
          empty={
            searched.value !== '' || state.value !== ''
              ? 'No matching permits. Use fewer words, or another state.'
              : 'No permits yet. The operator imports them.'
          }
          note={
            rows?.length === shownMax
              ? `The newest ${shownMax}${answer.data?.meta.total_count ? ` of ${number(answer.data.meta.total_count)}` : ''}; add words to narrow the search.`
              : undefined
          }
          columns={({ column, numeric }) => [
            column('Operator', ({ operator }) => operator.name, {
              show: permit => twoLines(permit.operator.name, wellOf(permit)),
            }),
            column('Where', ({ county, state_code }) =>
              [county, state_code].filter(Boolean).join(', '),
            ),
            column('Formation', ({ target }) => target.formation, {
              isWide: true,
              className: 'quiet',
            }),
            column('API number', 'api_number', { isWide: true, className: 'code' }),
            column('Status', 'permit_status', {
              isWide: true,
              show: row => <Tag>{words(row.permit_status)}</Tag>,
            }),
            numeric('Date', 'permit_date', { className: 'nowrap' }),
          ]}
        />
      )}
    </>
  )
}

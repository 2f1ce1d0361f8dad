import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { NoData, Refused, Waiting } from '../parts/bits.tsx'
import { Options, Select } from '../parts/fields.tsx'
import { Members, Page } from '../parts/page.tsx'
import { ask, useLoaded } from '../parts/requests/ask.ts'
import { boot, dayAgo } from '../parts/requests/boot.ts'
import { areCodesHere, codes, codesRefusal, wantCodes } from '../parts/requests/codes.ts'
import { Tabs } from '../parts/tabs.tsx'
import { bound } from '../parts/text/form.ts'
import { words } from '../parts/text/format.ts'
import { partName } from '../paths.ts'
import { Catalogue } from './catalogue.tsx'
import { Headline } from './commodities/headline.tsx'
import { type Report as Declared, type Part, parts } from './commodities/parts.ts'
import { Report } from './commodities/report.tsx'

const views = Object.fromEntries(parts.map(part => [part.part, () => <One part={part} />]))

/** Each commodity: its series, and everything that the API reports of it. */
export function Commodities() {
  const { params } = useRoute()
  return (
    <Members
      title="Commodities"
      about="Headline figures and reports by commodity, from crude inventories and OPEC output to marine fuels and drilling."
    >
      {() => (
        <Page title={partName('commodities', params.part ?? '') ?? 'Commodities'}>
          <Tabs page="commodities" views={views} />
        </Page>
      )}
    </Members>
  )
}

const pathOf = ({ path }: Declared, choice: string): string =>
  path.replace('{choice}', choice).replace('{month}', dayAgo(31)).replace('{to}', dayAgo(0))

/** The different values of a field, wherever an answer has it. */
function valuesIn(answer: unknown, field: string): string[] {
  if (typeof answer !== 'object' || answer === null) return []
  const own = (answer as Record<string, unknown>)[field]
  const inner = Object.values(answer).flatMap(value => valuesIn(value, field))
  return [...new Set(typeof own === 'string' ? [own, ...inner] : inner)]
}

function One({ part }: { part: Part }) {
  const { path, query, route } = useLocation()
  useEffect(wantCodes, [])
  const listed = codes.value
    .filter(
      ({ code, category }) =>
        part.categories.includes(category) && (part.codes?.test(code) ?? true),
    )
    .sort((a, b) => part.categories.indexOf(a.category) - part.categories.indexOf(b.category))
  const isReady = boot.hasData && areCodesHere.value
  const report = part.reports.find(({ text }) => text === query.report) ?? part.reports[0]
  const choice = useSignal('')
  const source = report?.choices?.from
  const found = useLoaded(isReady ? source?.path : undefined, signal =>
    ask<unknown>(source!.path, { signal }),
  )
  const values =
    report?.choices?.values ?? (source && found.data ? valuesIn(found.data, source.field) : [])
  const chosen = values.includes(choice.value) ? choice.value : (values[0] ?? '')
  return (
    <>
      {codesRefusal.value ? (
        <Refused error={codesRefusal.value} />
      ) : (
        !areCodesHere.value && part.categories.length > 0 && <Waiting what="series" />
      )}
      {!boot.hasData && <NoData text="No data yet." />}
      {isReady && part.headline && <Headline codes={part.headline} />}
      {isReady && report && (
        <>
          <div class="row">
            <label class="inline">
              Report
              <select
                value={report.text}
                onChange={event =>
                  route(`${path}?report=${encodeURIComponent(event.currentTarget.value)}`, true)
                }
              >
                {[...Map.groupBy(part.reports, ({ group }) => group)].map(([group, reports]) => {
                  const options = <Options of={reports.map(({ text }) => text)} />
                  return group === undefined ? (
                    options
                  ) : (
                    <optgroup key={group} label={group}>
                      {options}
                    </optgroup>
                  )
                })}
              </select>
            </label>
            {report.choices && (
              <Select
                label={report.choices.label}
                labelClass="inline"
                of={values}
                textOf={value =>
                  codes.value.find(({ code }) => code === value)?.name ??
                  (/^[A-Z]/.test(value) ? value : words(value.replaceAll('-', '_')))
                }
                {...bound(choice)}
                value={chosen}
              />
            )}
          </div>
          {found.refusal && <Refused error={found.refusal} />}
          {(!report.choices || chosen !== '') && (
            <Report
              key={`${report.text} ${chosen}`}
              title={report.text}
              path={pathOf(report, chosen)}
            />
          )}
        </>
      )}
      {listed.length > 0 && <Catalogue codes={listed} isSearch={false} isTall />}
    </>
  )
}

import { Fragment } from 'preact'
import { isoInstant } from '../../../lib/time/instant.ts'
import {
  type DisplayPreferences,
  densities,
  moveColours,
  numberFormats,
  schemes,
} from '../../../plans/display.ts'
import { Choice, Zones } from '../../parts/fields.tsx'
import { prefer, preferences } from '../../parts/person/preferences.ts'
import { now } from '../../parts/requests/boot.ts'
import { Move } from '../../parts/tables/move.tsx'
import { instant, number } from '../../parts/text/format.ts'
import { numberText } from '../../parts/text/writing.ts'

const texts: Readonly<Record<string, string>> = {
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  normal: 'Normal',
  dense: 'Dense',
  blue_orange: 'Blue up, orange down',
  green_red: 'Green up, red down',
  red_green: 'Red up, green down',
  ...Object.fromEntries(numberFormats.map(format => [format, numberText(1234.5, 1, format)])),
}

const choices = [
  { name: 'scheme', label: 'Colour scheme', values: schemes },
  { name: 'density', label: 'Rows', values: densities },
  { name: 'numberFormat', label: 'Numbers', values: numberFormats },
  { name: 'moveColours', label: 'Rises and falls', values: moveColours },
] as const satisfies readonly { name: keyof DisplayPreferences; label: string; values: unknown }[]

/** How the pages look and write for a person, in every browser where they sign in. */
export function Display() {
  const chosen = preferences.value
  return (
    <section class="card" aria-labelledby="display">
      <h2 id="display">Display settings</h2>
      <p class="quiet">
        Changes apply immediately in every browser where you sign in, and only to you. CSV files,
        copied tables and the API always have plain numbers and times in UTC.
      </p>
      <dl class="facts">
        {choices.map(({ name, label, values }) => (
          <Fragment key={name}>
            <dt>{label}</dt>
            <dd>
              <Choice<string>
                label={label}
                value={chosen[name]}
                options={values.map(value => ({ value, text: texts[value]! }))}
                onChoose={value => prefer({ [name]: value } as Partial<DisplayPreferences>)}
              />
            </dd>
          </Fragment>
        ))}
        <dt>
          <label for="zone">Time zone</label>
        </dt>
        <dd>
          <input
            id="zone"
            list="zones"
            value={chosen.timeZone}
            onChange={event => prefer({ timeZone: event.currentTarget.value.trim() || 'UTC' })}
          />
          <Zones id="zones">
            <option value="browser">The time zone of this browser</option>
          </Zones>
        </dd>
        <dt>Example</dt>
        <dd>
          <output>
            {number(1234.5, 2)} <Move change={{ amount: 1, percent: 1.25 }} />{' '}
            <Move change={{ amount: -1, percent: -1.25 }} />{' '}
            {instant(isoInstant(Math.round(now())))}
          </output>
        </dd>
      </dl>
    </section>
  )
}

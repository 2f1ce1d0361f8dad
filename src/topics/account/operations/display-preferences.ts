import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { body, choice, field, optional } from '../../../http/input/body-schema.ts'
import { type Operation, operation } from '../../../http/operations/operation.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import { nearestWord } from '../../../lib/text/wrong-value.ts'
import { isoOrNull } from '../../../lib/time/instant.ts'
import { zoneName } from '../../../lib/time/zone.ts'
import {
  densities,
  firstDisplayPreferences,
  moveColours,
  numberFormats,
  schemes,
} from '../../../plans/display.ts'
import type { StoredDisplayPreferences } from '../store/display-preferences.ts'

const zoneMax = 100
/** Zones that no place has a name for. */
const specialZones = ['UTC', 'browser']

const descriptions = {
  scheme: '`system`: as the operating system of the browser.',
  density: '`dense`: more rows on a screen.',
  timeZone:
    'Time zone of instants: `UTC`, `browser` (the zone of the browser) or an IANA name. Days of data do not depend on it.',
  numberFormat:
    '`decimal_point`: 1,234.5; `decimal_comma`: 1.234,5; `spaced_decimal_comma`: 1 234,5. Files and responses of the API keep plain numbers.',
  moveColours: 'The colour of a rise, then of a fall.',
}

const DisplayPreferencesShape = t.Object({
  scheme: t.oneOf(schemes, descriptions.scheme),
  density: t.oneOf(densities, descriptions.density),
  time_zone: t.string(descriptions.timeZone, 'Europe/Berlin'),
  number_format: t.oneOf(numberFormats, descriptions.numberFormat),
  move_colours: t.oneOf(moveColours, descriptions.moveColours),
  updated_at: t.instantOrNull(
    'When they were last changed; null: never, and these are the defaults.',
  ),
})

const zoneField = field(t.string(descriptions.timeZone, 'Europe/Berlin'), (form, name) => {
  const written = form.text(name, zoneMax)
  if (written === undefined) return undefined
  const zone = specialZones.find(special => special === written) ?? zoneName(written)
  if (zone !== undefined) return zone
  const near = nearestWord(written, [...specialZones, ...Intl.supportedValuesOf('timeZone')])
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return form.fault(
    name,
    `must be UTC, browser or the IANA name of a time zone, such as Europe/Berlin.${meant}`,
  )
})

const DisplayPreferencesBody = body({
  scheme: optional(choice(schemes, { description: descriptions.scheme })),
  density: optional(choice(densities, { description: descriptions.density })),
  time_zone: optional(zoneField),
  number_format: optional(choice(numberFormats, { description: descriptions.numberFormat })),
  move_colours: optional(choice(moveColours, { description: descriptions.moveColours })),
})

const rowOf = (chosen: StoredDisplayPreferences | undefined) =>
  answerRow(DisplayPreferencesShape, chosen ?? firstDisplayPreferences, {
    updated_at: isoOrNull(chosen?.updatedAt),
  })

/** The display preferences of the holder of the key or session. */
export const displayPreferenceOperations: readonly Operation[] = [
  operation('GET /v1/display_preferences', {
    operationId: 'getDisplayPreferences',
    summary: 'Get display preferences',
    description:
      "Returns the caller's preferences for the console: colours, density, time zone and number format. Each member of an organization has their own.",
    access: { meter: false },
    answers: DisplayPreferencesShape,
    handle: ({ at, caller }) => rowOf(at.displayPreferences.of(caller.key.holder.account.id)),
  }),
  operation('PATCH /v1/display_preferences', {
    operationId: 'updateDisplayPreferences',
    summary: 'Update display preferences',
    description:
      "Updates the given preferences of the caller; the others keep their values. The console uses them in every browser that the caller signs in with. They do not change the API's responses.",
    access: { meter: false, header: true, action: 'change_view' },
    body: DisplayPreferencesBody.schema,
    answers: DisplayPreferencesShape,
    handle: ({ at, body: input, caller }) => {
      const { displayPreferences: store, now } = at
      const { id } = caller.key.holder.account
      const chosen = {
        ...(store.of(id) ?? firstDisplayPreferences),
        ...camelFields(DisplayPreferencesBody.read(input)),
        updatedAt: now(),
      }
      store.put(id, chosen)
      return rowOf(chosen)
    },
  }),
]

import { computed, effect, signal } from '@preact/signals'
import { type DisplayPreferences, firstDisplayPreferences } from '../../../plans/display.ts'
import { ask, Refusal } from '../requests/ask.ts'
import { boot } from '../requests/boot.ts'
import { knownZone } from '../text/writing.ts'

const storageName = 'preferences.1'

interface Preferences extends DisplayPreferences {
  /** The rail shows icons alone, in this browser. */
  isRailNarrow: boolean
}

interface Stored extends Preferences {
  unsent: Partial<DisplayPreferences>
}

function read(): Partial<Stored> {
  try {
    return JSON.parse(localStorage.getItem(storageName) ?? '{}') as Partial<Stored>
  } catch {
    return {}
  }
}

const { unsent: before = {}, ...stored } = read()

/**
 * Changes that the account has not answered: a page may be left before its request has arrived. Without
 * a session there is no account.
 */
const unsent = signal(boot.display === undefined ? {} : before)

/**
 * The user's display settings. Those of the account are in the document, so that nothing waits for
 * them; this browser keeps them for pages without a session.
 */
export const preferences = signal<Preferences>({
  ...firstDisplayPreferences,
  isRailNarrow: false,
  ...stored,
  ...boot.display,
  ...unsent.value,
})

/** Why the account did not take the last change. */
export const preferenceRefusal = signal<Error | undefined>(undefined)

/** Applies a change at once, and stores it with the account of a signed-in person. */
export function prefer(change: Partial<Preferences>): void {
  const { timeZone } = preferences.value
  preferences.value = { ...preferences.value, ...change }
  const { isRailNarrow: _, ...display } = change
  if (boot.display === undefined) return
  unsent.value = { ...unsent.value, ...display }
  sending = sending.then(() => send(timeZone))
}

/** Sends what the account has not answered; `timeZone` comes back if the new one is refused. */
async function send(timeZone: string): Promise<void> {
  const sent = unsent.value
  if (Object.keys(sent).length === 0) return
  try {
    await ask('/v1/display_preferences', {
      method: 'PATCH',
      // At first the account gets what was chosen in this browser before, too.
      body: wireOf(boot.display === null ? preferences.value : sent),
      // During an impersonation they are still those of the operator.
      token: null,
    })
    boot.display = preferences.value
    preferenceRefusal.value = undefined
  } catch (error) {
    preferenceRefusal.value = error as Error
    if (!(error instanceof Refusal)) return
    if (error.status === 422) preferences.value = { ...preferences.value, timeZone }
  }
  // A later change has its own request.
  if (unsent.value === sent) unsent.value = {}
}

const wireOf = (display: Partial<DisplayPreferences>) => ({
  scheme: display.scheme,
  density: display.density,
  time_zone: display.timeZone,
  number_format: display.numberFormat,
  move_colours: display.moveColours,
})

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', event => {
  systemIsDark.value = event.matches
})

/** The time zone in which instants are written. */
export const zone = computed(() => knownZone(preferences.value.timeZone))

export const numberFormat = computed(() => preferences.value.numberFormat)

/** Changes with everything that a drawn chart depends on: it is drawn again then. */
export const appearance = signal('')

effect(() => {
  const { scheme, density, isRailNarrow, moveColours } = preferences.value
  const root = document.documentElement
  const isDark = scheme === 'system' ? systemIsDark.value : scheme === 'dark'
  root.dataset.scheme = isDark ? 'dark' : 'light'
  root.dataset.density = density
  root.dataset.moves = moveColours
  root.dataset.rail = isRailNarrow ? 'narrow' : 'wide'
  appearance.value = [isDark, moveColours, numberFormat.value, zone.value].join()
})

effect(() => {
  try {
    localStorage.setItem(
      storageName,
      JSON.stringify({ ...preferences.value, unsent: unsent.value }),
    )
  } catch {
    // Without storage the choice lasts as long as the page.
  }
})

/** Changes are sent one after the other. */
let sending = send(firstDisplayPreferences.timeZone)

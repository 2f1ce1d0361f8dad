import { effect, signal } from '@preact/signals'

export type Scheme = 'system' | 'light' | 'dark'
export type Density = 'normal' | 'dense'

const storageName = 'preferences.1'

interface Preferences {
  scheme: Scheme
  density: Density
  /** The rail shows icons alone. */
  isRailNarrow: boolean
}

const initial: Preferences = { scheme: 'system', density: 'normal', isRailNarrow: false }

function stored(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(storageName) ?? '{}') as Partial<Preferences>
  } catch {
    return {}
  }
}

/** The user's display settings in this browser. */
export const preferences = signal<Preferences>({ ...initial, ...stored() })

export function prefer(change: Partial<Preferences>): void {
  preferences.value = { ...preferences.value, ...change }
  try {
    localStorage.setItem(storageName, JSON.stringify(preferences.value))
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', event => {
  systemIsDark.value = event.matches
})

/** Whether the pages are dark now, by choice or as the system is. Charts follow it. */
export const isDark = signal(false)

effect(() => {
  const { scheme, density, isRailNarrow } = preferences.value
  const root = document.documentElement
  const dark = scheme === 'system' ? systemIsDark.value : scheme === 'dark'
  root.dataset.scheme = dark ? 'dark' : 'light'
  root.dataset.density = density
  root.dataset.rail = isRailNarrow ? 'narrow' : 'wide'
  isDark.value = dark
})

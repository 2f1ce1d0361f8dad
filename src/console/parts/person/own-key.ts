import { signal } from '@preact/signals'

const kept = 'key.1'

/** The reader's own key for samples and trial calls, for this tab only; empty without one. */
export const ownKey = signal(sessionStorage.getItem(kept) ?? '')

export function keepKey(key: string): void {
  ownKey.value = key.trim()
  if (ownKey.value === '') sessionStorage.removeItem(kept)
  else sessionStorage.setItem(kept, ownKey.value)
}
